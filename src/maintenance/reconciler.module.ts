import { Module } from '@nestjs/common';
import { PROCESS_OPTIONS, type ProcessOptions } from '../infra/config.module.js';
import { STORES, type Stores } from '../infra/connections.module.js';
import { KafkaConnection } from '../infra/kafka.js';
import { DefinitionsTopic } from '../registry/definitions-topic.js';
import { RegistryModule } from '../registry/registry.module.js';
import { Reconciler } from './reconciler.js';

/** The reconciler, for the role `reconciliation` and for commands. */
@Module({
  imports: [RegistryModule],
  providers: [
    {
      provide: Reconciler,
      inject: [STORES, KafkaConnection, DefinitionsTopic, PROCESS_OPTIONS],
      useFactory: (
        stores: Stores,
        { kafka, admin, topics }: KafkaConnection,
        definitions: DefinitionsTopic,
        { settings, logger }: ProcessOptions,
      ) =>
        new Reconciler({
          ...{ ...stores, kafka, admin, definitions, logger, topic: topics.scoreEvents },
          graceMs: settings.rollbackGrace,
          eventsPerSecond: settings.backgroundRate || undefined,
        }),
    },
  ],
  exports: [Reconciler, RegistryModule],
})
export class ReconcilerModule {}
