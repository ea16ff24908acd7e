// To add a field of the health checks: add it to `report`, and to docs/reference/http.md.

import { Inject, Injectable } from '@nestjs/common';
import { KafkaBatchServer } from '#kafka-batch/nest';
import type { Role } from '../config/roles.js';
import { PROCESS_OPTIONS, type ProcessOptions } from '../infra/config.module.js';
import { RedisClients } from '../infra/redis.js';
import { PartitionWaits } from '../ingest/partition-waits.js';

/** `stuckSeconds`: for how long a partition has had work and finished none. */
export type HealthReport = ReturnType<HealthService['report']>;

@Injectable()
export class HealthService {
  constructor(
    private readonly clients: RedisClients,
    private readonly transport: KafkaBatchServer,
    private readonly waits: PartitionWaits,
    @Inject(PROCESS_OPTIONS) private readonly options: ProcessOptions,
  ) {}

  /**
   * Of one role, or of all roles of the process: what /health/ready answers. Sends no request to
   * Kafka or Redis.
   */
  report(role?: Role) {
    const { settings, roles, start, shutdown } = this.options;
    const consumer = this.transport.health();
    const partitions = [...consumer.partitions]
      .map(([partition, { state, stuckMs, error }]) => ({
        ...{ partition, state, stuckSeconds: seconds(stuckMs) },
        waitsFor: this.waits.current.has(partition) ? 'recovering' : null,
        problem: error?.message ?? null, // until the partition runs again
      }))
      .sort((a, b) => a.partition - b.partition);
    const isSilent = consumer.loopAgeMs > settings.sessionTimeout;
    const silence = `nothing was fetched from Kafka for ${seconds(consumer.loopAgeMs)} s`;
    const ofAll = [
      ...(start?.waitsFor === undefined ? [] : [start.waitsFor]),
      ...(shutdown?.signal.aborted ? ['the process is ending'] : []),
    ];
    const ofPartitions = partitions.flatMap(({ partition, state, problem }) =>
      problem === null ? [] : `partition ${partition} (${state}): ${problem}`,
    );
    const ofIngest = [...(isSilent ? [silence] : []), ...ofPartitions];
    const byRole = (role === undefined ? roles : [role]).map((each) => {
      const own = each === 'ingest' ? ofIngest : [];
      return [each, [...ofAll, ...this.#ofRedis(each), ...own]] as const;
    });
    const problems = [...new Set(byRole.flatMap(([, ofRole]) => ofRole))];
    const runningStatus = problems.length > 0 ? 'failing' : 'ok';
    const status = start?.waitsFor === undefined ? runningStatus : 'starting';
    return { status, problems, roles: Object.fromEntries(byRole), partitions };
  }

  /** The reads of the role query have a connection of their own. */
  #ofRedis(role: Role): string[] {
    const { main: redis, reads } = this.clients;
    const { status } = role === 'query' ? reads : redis;
    return status === 'ready' ? [] : [`not connected to Redis (${status})`];
  }
}

function seconds(ms: number): number {
  return Math.round(ms / 1_000);
}
