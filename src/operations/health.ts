// To add a field of the health checks: add it to `report`, and to docs/reference/http.md.

import { Inject, Injectable } from '@nestjs/common';
import { KafkaBatchServer } from '#kafka-batch/nest';
import type { Role } from '../config/roles.js';
import { PROCESS_OPTIONS, type ProcessOptions } from '../infra/config.module.js';
import { RedisClients } from '../infra/redis.js';
import { PartitionWaits } from '../ingest/partition-waits.js';

/** `stuckSeconds`: for how long a partition has had work without finishing any. */
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
   * The health of one role, or of all roles of the process, as /health/ready answers it. Sends no
   * request to Kafka or Redis.
   */
  report(role?: Role) {
    const { roles, start } = this.options;
    const partitions = this.#partitions();
    const ofProcess = this.#problemsOfProcess();
    const ofIngest = [...this.#problemsOfFetching(), ...problemsOf(partitions)];

    const reported = role === undefined ? roles : [role];
    const byRole = reported.map((each) => {
      const ownProblems = each === 'ingest' ? ofIngest : [];
      return [each, [...ofProcess, ...this.#problemsOfRedis(each), ...ownProblems]] as const;
    });
    const problems = [...new Set(byRole.flatMap(([, problemsOfRole]) => problemsOfRole))];

    const runningStatus = problems.length > 0 ? 'failing' : 'ok';
    const status = start?.waitsFor === undefined ? runningStatus : 'starting';
    return { status, problems, roles: Object.fromEntries(byRole), partitions };
  }

  #partitions() {
    const { partitions } = this.transport.health();
    const states = [...partitions].map(([partition, { state, stuckMs, error }]) => ({
      partition,
      state,
      stuckSeconds: seconds(stuckMs),
      waitsFor: this.waits.current.has(partition) ? 'recovering' : null,
      problem: error?.message ?? null, // until the partition runs again
    }));
    return states.sort((a, b) => a.partition - b.partition);
  }

  #problemsOfProcess(): string[] {
    const { start, shutdown } = this.options;
    const problems: string[] = [];
    if (start?.waitsFor !== undefined) problems.push(start.waitsFor);
    if (shutdown?.signal.aborted === true) problems.push('the process is ending');
    return problems;
  }

  #problemsOfFetching(): string[] {
    const { loopAgeMs } = this.transport.health();
    if (loopAgeMs <= this.options.settings.sessionTimeout) return [];
    return [`nothing was fetched from Kafka for ${seconds(loopAgeMs)} s`];
  }

  /** The role query reads over a connection of its own. */
  #problemsOfRedis(role: Role): string[] {
    const { main: redis, reads } = this.clients;
    const { status } = role === 'query' ? reads : redis;
    return status === 'ready' ? [] : [`not connected to Redis (${status})`];
  }
}

function problemsOf(
  partitions: readonly { partition: number; state: string; problem: string | null }[],
): string[] {
  return partitions.flatMap(({ partition, state, problem }) =>
    problem === null ? [] : `partition ${partition} (${state}): ${problem}`,
  );
}

function seconds(ms: number): number {
  return Math.round(ms / 1_000);
}
