import { faultNamed } from './faults/all.js';
import { randomFrom } from '../support/seeded-random.js';
import { below, pick, type Random } from './random.js';

/** What one test run does. It depends on the seed and the given faults alone. */
export interface Plan {
  readonly seed: number;
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

/** Random faults in random order. */
export function planOf(seed: number, faults: readonly string[]): Plan {
  const random = randomFrom(seed);
  const count = MIN_STEPS + below(random, MAX_STEPS - MIN_STEPS + 1);
  return planWith(
    seed,
    Array.from({ length: count }, () => pick(random, faults)),
  );
}

/** These faults in this order; everything else is random. */
export function planWith(seed: number, faults: readonly string[]): Plan {
  const random = randomFrom(seed + 1);
  return {
    seed,
    shards: 1 + below(random, 2),
    workers: 1 + below(random, 2),
    steps: faults.map((fault) => ({ fault, after: 1 + below(random, MAX_RECORDS_BETWEEN) })),
    announces: random() < 0.5 || faults.some((fault) => faultNamed(fault).announces === true),
  };
}

/** The random numbers of the load, or of the fault of a step (the index of the step, from 0). */
export function randomOf({ seed }: Plan, what: 'load' | number): Random {
  return randomFrom(seed * 31 + (what === 'load' ? 0 : 1 + what));
}

export function planText({ seed, shards, workers, steps, announces }: Plan): string {
  const list = steps.map(({ fault, after }) => `after ${after} records ${fault}`).join(', ');
  const stamps = announces ? 'the broker stamps' : 'producers stamp';
  return `seed ${seed}: ${shards} shard(s), ${workers} worker(s), ${stamps}; ${list}`;
}
