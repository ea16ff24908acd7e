import { Inject, Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import type { PartitionHealth } from '#kafka-batch';
import { KafkaBatchServer } from '#kafka-batch/nest';
import type { Settings } from '../config/settings.js';
import { SETTINGS } from '../infra/config.module.js';
import { PartitionWaits } from '../ingest/partition-waits.js';

export interface HealthReport {
  readonly status: 'ok' | 'starting' | 'failing';
  /** A sentence for each problem. */
  readonly problems: readonly string[];
  readonly partitions: readonly PartitionReport[];
}

interface PartitionReport {
  readonly partition: number;
  readonly state: PartitionHealth['state'];
  /** For how long the partition has had work and finished none. */
  readonly stuckSeconds: number;
  readonly waitsFor: 'recovering' | null;
  /** The last error, until the partition runs again. */
  readonly problem: string | null;
}

@Injectable()
export class HealthService {
  /** Whether all roles of the process have started. */
  isRunning = false;
  /** Why ingest takes no partitions yet. */
  blocker: string | undefined;

  constructor(
    private readonly redis: Redis,
    private readonly transport: KafkaBatchServer,
    private readonly waits: PartitionWaits,
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'sessionTimeout'>,
  ) {}

  /** Sends no request to Kafka or Redis. */
  report(): HealthReport {
    const consumer = this.transport.health();
    const partitions = [...consumer.partitions]
      .map(([partition, { state, stuckMs, error }]) => ({
        ...{ partition, state, stuckSeconds: seconds(stuckMs) },
        waitsFor: this.waits.current.has(partition) ? ('recovering' as const) : null,
        problem: error?.message ?? null,
      }))
      .sort((a, b) => a.partition - b.partition);
    const { status } = this.redis;
    const isSilent = consumer.loopAgeMs > this.settings.sessionTimeout;
    const silence = `nothing was fetched from Kafka for ${seconds(consumer.loopAgeMs)} s`;
    const problems = [
      ...(this.blocker === undefined ? [] : [this.blocker]),
      ...(status === 'ready' ? [] : [`not connected to Redis (${status})`]),
      ...(isSilent ? [silence] : []),
      ...partitions.flatMap(problemOf),
    ];
    const runningStatus = problems.length > 0 ? 'failing' : 'ok';
    return { status: this.isRunning ? runningStatus : 'starting', problems, partitions };
  }
}

function problemOf({ partition, state, problem }: PartitionReport): string[] {
  return problem === null ? [] : [`partition ${partition} (${state}): ${problem}`];
}

function seconds(ms: number): number {
  return Math.round(ms / 1_000);
}
