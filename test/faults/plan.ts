import { randomFrom } from '../support/seeded-random.js';
import { below, pick, type Random } from './load.js';

/** What one run does: it follows from its seed alone. */
export interface Plan {
  readonly seed: number;
  readonly shards: number;
  /** Workers at the start. */
  readonly workers: number;
  readonly steps: readonly PlanStep[];
}
export interface PlanStep {
  readonly fault: string;
  /** Records to be published since the step before. */
  readonly after: number;
}

const FEWEST_STEPS = 5;
const MOST_STEPS = 9;
const MOST_RECORDS_BETWEEN = 120;

/** A random choice of the faults, each about as often as the others, in random order. */
export function planOf(seed: number, faults: readonly string[]): Plan {
  const random = randomFrom(seed);
  const count = FEWEST_STEPS + below(random, MOST_STEPS - FEWEST_STEPS + 1);
  return planWith(
    seed,
    Array.from({ length: count }, () => pick(random, faults)),
  );
}

/** These faults in this order; all else follows from the seed. */
export function planWith(seed: number, faults: readonly string[]): Plan {
  const random = randomFrom(seed + 1);
  return {
    seed,
    shards: 1 + below(random, 2),
    workers: 1 + below(random, 2),
    steps: faults.map((fault) => ({ fault, after: 1 + below(random, MOST_RECORDS_BETWEEN) })),
  };
}

/** The random numbers of the load, and of each fault by its place in the plan. */
export function randomOf({ seed }: Plan, what: 'load' | number): Random {
  return randomFrom(seed * 31 + (what === 'load' ? 0 : 1 + what));
}

export function planText({ seed, shards, workers, steps }: Plan): string {
  const list = steps.map(({ fault, after }) => `after ${after} records ${fault}`).join(', ');
  return `seed ${seed}: ${shards} shard(s), ${workers} worker(s); ${list}`;
}
