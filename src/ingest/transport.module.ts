import { Module } from '@nestjs/common';
import { IdentityCheck } from '#board-store';
import { KafkaBatchServer } from '#kafka-batch/nest';
import { PROCESS_OPTIONS, type ProcessOptions } from '../infra/config.module.js';
import { KafkaConnection } from '../infra/kafka.js';
import { membershipOf } from './group-membership.js';
import { PartitionWaits } from './partition-waits.js';

/**
 * A process learns of a rebalance from its next heartbeat, and all processes wait for the last one
 * to join. With 1,000 ms, a rolling deploy paused partitions nearly twice as long.
 */
const HEARTBEAT_MS = 250;

/**
 * The custom transport that hands batches of the score topic to the IngestController. Nest connects
 * it in main.ts; without the role `ingest` it has no partitions.
 */
@Module({
  providers: [
    {
      provide: KafkaBatchServer,
      inject: [KafkaConnection, IdentityCheck, PROCESS_OPTIONS],
      useFactory: (
        { kafka, topics }: KafkaConnection,
        identity: IdentityCheck,
        { settings, logger, shutdown, start }: ProcessOptions,
      ) => {
        const { refusal, ...membership } = membershipOf(identity);
        return new KafkaBatchServer({
          kafka,
          groupId: identity.group,
          topic: topics.scoreEvents,
          consumer: {
            sessionTimeout: settings.sessionTimeout,
            heartbeatInterval: Math.min(HEARTBEAT_MS, settings.sessionTimeout / 3),
          },
          connectTimeoutMs: settings.startTimeout,
          membership: {
            ...membership,
            signal: shutdown?.signal,
            refusal: (group) => {
              const error = refusal(group);
              if (start?.waitsFor !== undefined) start.waitsFor = error.message;
              return error;
            },
          },
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
