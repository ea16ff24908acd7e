import {
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { IngestController } from './ingest.controller.js';
import { IngestServices } from './ingest-services.js';
import { Sweeper } from './sweeper.js';

/** The role `ingest`: score topic -> boards -> result topics. Its transport is a KafkaBatchServer. */
@Module({})
export class IngestModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  static with(services: IngestServices, sweeper: Sweeper): DynamicModule {
    return {
      module: IngestModule,
      controllers: [IngestController],
      providers: [
        { provide: IngestServices, useValue: services },
        { provide: Sweeper, useValue: sweeper },
      ],
    };
  }

  constructor(private readonly sweeper: Sweeper) {}

  onApplicationBootstrap(): void {
    this.sweeper.start();
  }

  /** Before the connections are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.sweeper.stop();
  }
}
