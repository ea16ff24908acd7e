import type { RedisKind } from '#servers';
import { faultNamed } from './faults/all.js';
import { randomFrom } from '../support/seeded-random.js';
import { below, pick, type Random } from './random.js';

/** What one test run does. It depends on the seed, the given faults and the kind of Redis alone. */
export interface Plan {
  readonly seed: number;
  readonly redis: RedisKind;
  /** At least so many, each with a replica of every topic; some faults need more. */
  readonly brokers: number;
  readonly shards: number;
  /** Workers at the start. */
  readonly workers: number;
  readonly steps: readonly PlanStep[];
  /**
   * Whether the broker stamps the records of the score topic, so that the results of closed windows
   * are announced. Else their producers do, so that there are events far ahead of their records.
   */
  readonly announces: boolean;
}
export interface PlanStep {
  readonly fault: string;
  /** How many more records are published before the fault. */
  readonly after: number;
}

const MIN_STEPS = 5;
const MAX_STEPS = 9;
const MAX_RECORDS_BETWEEN = 120;
/** So many that each node has some. */
const MORE_SHARDS = 5;

/** Random faults in random order. */
export function planOf(
  seed: number,
  faults: readonly string[],
  redis: RedisKind = 'single',
  brokers = 1,
): Plan {
  const random = randomFrom(seed);
  const count = MIN_STEPS + below(random, MAX_STEPS - MIN_STEPS + 1);
  return planWith(
    seed,
    Array.from({ length: count }, () => pick(random, faults)),
    redis,
    brokers,
  );
}

/** These faults in this order; everything else is random. */
export function planWith(
  seed: number,
  faults: readonly string[],
  redis: RedisKind = 'single',
  brokers = 1,
): Plan {
  const random = randomFrom(seed + 1);
  return {
    seed,
    redis,
    brokers,
    shards: 1 + below(random, 2) + (redis === 'cluster' ? MORE_SHARDS : 0),
    workers: 1 + below(random, 2),
    steps: faults.map((fault) => ({ fault, after: 1 + below(random, MAX_RECORDS_BETWEEN) })),
    announces: random() < 0.5 || faults.some((fault) => faultNamed(fault).announces === true),
  };
}

const OWN_RANDOM = { load: 0, reads: 30 };

/** The random numbers of the load or the reads, or of the fault of a step (its index, from 0). */
export function randomOf({ seed }: Plan, what: keyof typeof OWN_RANDOM | number): Random {
  return randomFrom(seed * 31 + (typeof what === 'number' ? 1 + what : OWN_RANDOM[what]));
}

const REDIS_TEXTS: Readonly<Record<RedisKind, string>> = {
  single: 'one Redis',
  cluster: 'Redis Cluster',
  sentinel: 'Redis with sentinels',
};

export function planText(plan: Plan): string {
  const { seed, redis, brokers, shards, workers, steps, announces } = plan;
  const list = steps.map(({ fault, after }) => `after ${after} records ${fault}`).join(', ');
  const stamps = announces ? 'the broker stamps' : 'producers stamp';
  const kafka = brokers === 1 ? '' : `, ${brokers} brokers`;
  return `seed ${seed}: ${REDIS_TEXTS[redis]}${kafka}, ${shards} shard(s), ${workers} worker(s), ${stamps}; ${list}`;
}
