import { Module } from '@nestjs/common';
import { KafkaBatchServer } from '#kafka-batch/nest';
import { PROCESS_OPTIONS, type ProcessOptions } from '../infra/config.module.js';
import { KafkaConnection } from '../infra/kafka.js';
import { PartitionWaits } from './partition-waits.js';

/**
 * The custom transport that hands batches of the score topic to the IngestController. Nest connects it in main.ts; without the
 * role `ingest` it has no partitions.
 */
@Module({
  providers: [
    {
      provide: KafkaBatchServer,
      inject: [KafkaConnection, PROCESS_OPTIONS],
      useFactory: ({ kafka, topics }: KafkaConnection, options: ProcessOptions) => {
        const { settings, logger, shutdown } = options;
        return new KafkaBatchServer({
          kafka,
          groupId: settings.group,
          topic: topics.scoreEvents,
          consumer: {
            sessionTimeout: settings.sessionTimeout,
            heartbeatInterval: Math.min(1_000, settings.sessionTimeout / 3),
          },
          connectTimeoutMs: settings.startTimeout,
          logger,
          onFatal: () => shutdown?.fail(),
        });
      },
    },
    PartitionWaits,
  ],
  exports: [KafkaBatchServer, PartitionWaits],
})
export class TransportModule {}
