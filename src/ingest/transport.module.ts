import { Injectable, Module } from '@nestjs/common';
import type { ConsumerHealth } from '#kafka-batch';
import { KafkaBatchServer } from '#kafka-batch/nest';
import { PROCESS_OPTIONS, type ProcessOptions } from '../infra/config.module.js';
import { KafkaConnection } from '../infra/kafka.js';
import { NeedsOperatorError } from './errors.js';
import { PartitionWaits } from './partition-waits.js';

/** The partitions that this process consumes; none without the role `ingest`. */
@Injectable()
export class IngestStatus {
  constructor(
    private readonly transport: KafkaBatchServer,
    private readonly waits: PartitionWaits,
  ) {}

  get consumer(): ConsumerHealth {
    return this.transport.health();
  }

  /** Partitions that wait for other partitions to recover. */
  get waiting(): ReadonlySet<number> {
    return this.waits.current;
  }

  needsOperator(error: Error | undefined): boolean {
    return error instanceof NeedsOperatorError;
  }
}

/** The custom transport that hands batches of the score topic to the IngestController. Nest connects it in main.ts. */
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
    IngestStatus,
  ],
  exports: [KafkaBatchServer, PartitionWaits, IngestStatus],
})
export class TransportModule {}
