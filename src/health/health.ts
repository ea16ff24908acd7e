import type { ConsumerHealth, PartitionHealth } from '#kafka-batch';

/** The facts that decide the health of a process. */
export interface HealthFacts {
  /** Whether all roles of the process have started. */
  readonly isRunning: boolean;
  /** The status that ioredis gives its connection; `ready` is the only good one. */
  readonly redis: string;
  readonly consumer: ConsumerHealth;
  /** Partitions that wait for other partitions to recover. */
  readonly waiting: ReadonlySet<number>;
  /** If the last fetch response is older, the process is `failing`. */
  readonly maxLoopAgeMs: number;
}

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

const STATES: Readonly<Record<PartitionHealth['state'], string>> = {
  starting: 'starting again',
  running: 'running',
  backingOff: 'about to start again',
  failed: 'stopped',
  released: 'released',
};

export function healthReport(facts: HealthFacts): HealthReport {
  const { isRunning, consumer, waiting } = facts;
  const partitions = [...consumer.partitions]
    .map(([partition, { state, stuckMs, error }]) => ({
      ...{ partition, state, stuckSeconds: seconds(stuckMs) },
      waitsFor: waiting.has(partition) ? ('recovering' as const) : null,
      problem: error?.message ?? null,
    }))
    .sort((a, b) => a.partition - b.partition);
  const problems = [...connectionProblems(facts), ...partitions.flatMap(problemOf)];
  const runningStatus = problems.length > 0 ? 'failing' : 'ok';
  return { status: isRunning ? runningStatus : 'starting', problems, partitions };
}

function problemOf({ partition, state, problem }: PartitionReport): string[] {
  return problem === null ? [] : [`partition ${partition} is ${STATES[state]}: ${problem}`];
}

function connectionProblems({ redis, consumer, maxLoopAgeMs }: HealthFacts): string[] {
  const { loopAgeMs } = consumer;
  return [
    ...(redis === 'ready' ? [] : [`not connected to Redis (${redis})`]),
    ...(loopAgeMs > maxLoopAgeMs
      ? [`nothing was fetched from Kafka for ${seconds(loopAgeMs)} s`]
      : []),
  ];
}

function seconds(ms: number): number {
  return Math.round(ms / 1_000);
}
