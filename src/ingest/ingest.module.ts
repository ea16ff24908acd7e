import { Module, type DynamicModule } from '@nestjs/common';
import { IngestController } from './ingest.controller.js';
import { IngestServices } from './ingest-services.js';

/** The role `ingest`: score topic -> boards -> result topics. Its transport is a KafkaBatchServer. */
@Module({})
export class IngestModule {
  static with(services: IngestServices): DynamicModule {
    return {
      module: IngestModule,
      controllers: [IngestController],
      providers: [{ provide: IngestServices, useValue: services }],
    };
  }
}
