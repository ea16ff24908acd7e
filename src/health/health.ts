import type { ConsumerHealth, PartitionHealth } from '#kafka-batch';

/** What the health of a process is made of. */
export interface HealthFacts {
  /** Whether all that the process does has been started. */
  readonly isRunning: boolean;
  /** Status of the connection to Redis; `ready` is the good one. */
  readonly redis: string;
  /** Missing in a process without the role ingest. */
  readonly consumer?: ConsumerHealth;
  /** Partitions that wait for others to recover. */
  readonly waiting: ReadonlySet<number>;
  /** How long the fetch loop may stand still, in ms. */
  readonly longestLoopAgeMs: number;
}

export interface HealthReport {
  readonly status: 'ok' | 'starting' | 'failing';
  /** A sentence for each thing that is not well. */
  readonly problems: readonly string[];
  readonly partitions: readonly PartitionReport[];
}

export interface PartitionReport {
  readonly partition: number;
  readonly state: PartitionHealth['state'];
  /** For how long it has had work and finished none. */
  readonly stuckSeconds: number;
  /** What it waits for now; null while it goes on. */
  readonly waitsFor: 'recovering' | null;
  /** Why it is not running; null where nothing is known to be wrong. */
  readonly problem: string | null;
}

/** Whether a process does what it should, and of what does not, why. */
export function healthOf(facts: HealthFacts): HealthReport {
  const partitions = [...(facts.consumer?.partitions ?? [])]
    .map(([partition, health]) => partitionReport(partition, health, facts.waiting.has(partition)))
    .sort((a, b) => a.partition - b.partition);
  const problems = [...connectionProblems(facts), ...partitions.flatMap(problemOf)];
  const working = problems.length > 0 ? 'failing' : 'ok';
  return { status: facts.isRunning ? working : 'starting', problems, partitions };
}

function partitionReport(
  partition: number,
  { state, stuckMs, error }: PartitionHealth,
  isWaiting: boolean,
): PartitionReport {
  return {
    ...{ partition, state, stuckSeconds: seconds(stuckMs) },
    waitsFor: isWaiting ? 'recovering' : null,
    problem: error?.message ?? null,
  };
}

function problemOf({ partition, state, problem }: PartitionReport): string[] {
  return problem === null ? [] : [`partition ${partition} is ${WORDS[state]}: ${problem}`];
}

const WORDS: Readonly<Record<PartitionHealth['state'], string>> = {
  starting: 'starting again',
  running: 'running',
  backingOff: 'about to start again',
  failed: 'stopped',
  released: 'released',
};

function connectionProblems({ redis, consumer, longestLoopAgeMs }: HealthFacts): string[] {
  const problems: string[] = [];
  if (redis !== 'ready') problems.push(`Redis is away: the connection is ${redis}`);
  const loopAgeMs = consumer?.loopAgeMs ?? 0;
  if (loopAgeMs > longestLoopAgeMs)
    problems.push(`nothing was fetched from Kafka for ${seconds(loopAgeMs)} s`);
  return problems;
}

function seconds(ms: number): number {
  return Math.round(ms / 1_000);
}
