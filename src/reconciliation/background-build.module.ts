import {
  Module,
  type BeforeApplicationShutdown,
  type DynamicModule,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { BackgroundBuilder } from './background-builder.js';
import { GenerationSweeper } from './generation-sweeper.js';

/** What the role `reconciliation` does by itself: boards that wait for their first generation get it, and old generations go. */
@Module({})
export class BackgroundBuildModule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  static with(builder: BackgroundBuilder, sweeper: GenerationSweeper): DynamicModule {
    return {
      module: BackgroundBuildModule,
      providers: [
        { provide: BackgroundBuilder, useValue: builder },
        { provide: GenerationSweeper, useValue: sweeper },
      ],
    };
  }

  constructor(
    private readonly builder: BackgroundBuilder,
    private readonly sweeper: GenerationSweeper,
  ) {}

  onApplicationBootstrap(): void {
    this.builder.start();
    this.sweeper.start();
  }

  /** Before the connections are closed. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.builder.stop(), this.sweeper.stop()]);
  }
}
