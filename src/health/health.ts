import { Inject, Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import type { PartitionHealth } from '#kafka-batch';
import { KafkaBatchServer } from '#kafka-batch/nest';
import type { Role } from '../config/roles.js';
import { PROCESS_OPTIONS, type ProcessOptions } from '../infra/config.module.js';
import { PartitionWaits } from '../ingest/partition-waits.js';

export interface HealthReport {
  readonly status: 'ok' | 'starting' | 'failing';
  /** A sentence for each problem. */
  readonly problems: readonly string[];
  /** The problems of each role. */
  readonly roles: Readonly<Partial<Record<Role, readonly string[]>>>;
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
  constructor(
    private readonly redis: Redis,
    private readonly transport: KafkaBatchServer,
    private readonly waits: PartitionWaits,
    @Inject(PROCESS_OPTIONS) private readonly options: ProcessOptions,
  ) {}

  /** Of one role, or of all roles of the process. Sends no request to Kafka or Redis. */
  report(role?: Role): HealthReport {
    const { settings, roles, start, shutdown } = this.options;
    const consumer = this.transport.health();
    const partitions = [...consumer.partitions]
      .map(([partition, { state, stuckMs, error }]) => ({
        ...{ partition, state, stuckSeconds: seconds(stuckMs) },
        waitsFor: this.waits.current.has(partition) ? ('recovering' as const) : null,
        problem: error?.message ?? null,
      }))
      .sort((a, b) => a.partition - b.partition);
    const { status } = this.redis;
    const isSilent = consumer.loopAgeMs > settings.sessionTimeout;
    const silence = `nothing was fetched from Kafka for ${seconds(consumer.loopAgeMs)} s`;
    const ofAll = [
      ...(start?.waitsFor === undefined ? [] : [start.waitsFor]),
      ...(shutdown?.signal.aborted ? ['the process is ending'] : []),
      ...(status === 'ready' ? [] : [`not connected to Redis (${status})`]),
    ];
    const ofIngest = [...ofAll, ...(isSilent ? [silence] : []), ...partitions.flatMap(problemOf)];
    const byRole = (role === undefined ? roles : [role]).map(
      (each) => [each, each === 'ingest' ? ofIngest : ofAll] as const,
    );
    const problems = [...new Set(byRole.flatMap(([, ofRole]) => ofRole))];
    const runningStatus = problems.length > 0 ? 'failing' : 'ok';
    return {
      status: start?.waitsFor === undefined ? runningStatus : 'starting',
      ...{ problems, roles: Object.fromEntries(byRole), partitions },
    };
  }
}

function problemOf({ partition, state, problem }: PartitionReport): string[] {
  return problem === null ? [] : [`partition ${partition} (${state}): ${problem}`];
}

function seconds(ms: number): number {
  return Math.round(ms / 1_000);
}
