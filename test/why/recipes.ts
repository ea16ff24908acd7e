import { END } from './arena.js';
import type { Player } from './players.js';

/**
 * A common way to make one ZSET score for a player, in its fairest version. The larger score ranks
 * first; of equal scores, the smaller player id.
 */
export interface Recipe {
  readonly name: string;
  /** The increments for ZINCRBY, in order; a recipe for ZADD has one. */
  readonly steps: (player: Player) => readonly (number | bigint)[];
  /** The columns that a client decodes from the score. */
  readonly shown: (score: number) => readonly number[];
}

/**
 * A recipe for one column and a time. The client reads the old score, computes the new one and
 * writes it as a whole.
 */
export interface TimeRecipe extends Recipe {
  /**
   * The largest score up to which the recipe distinguishes players who are one `tick` (ms) apart.
   */
  readonly holdsTo: number;
  readonly tick: 1 | 1_000;
  readonly scoreOf: (score: number, time: number) => number | bigint;
}

const MS = 1;
const SECOND = 1_000;

const whole = (score: number) => [Math.floor(score)];
const over = (unit: number) => (score: number) => [Math.floor(score / unit)];

/** Only for a contest with a known end, at most 99 days away. */
export const contestRecipe: TimeRecipe = timeRecipe(
  'score × 2^33 + ms to the end of the contest',
  MS,
  {
    holdsTo: 2 ** 20 - 1,
    scoreOf: (score, ms) => score * 2 ** 33 + (END - ms),
    shown: over(2 ** 33),
  },
);

export const timeRecipes: readonly TimeRecipe[] = [
  timeRecipe('score × 10^11 + (10^11 − seconds)', SECOND, {
    holdsTo: 90_071,
    scoreOf: (score, s) => score * 1e11 + (1e11 - s),
    shown: over(1e11),
  }),
  timeRecipe('score × 10^13 + (10^13 − ms)', MS, {
    holdsTo: 899,
    scoreOf: (score, ms) => score * 1e13 + (1e13 - ms),
    shown: over(1e13),
  }),
  timeRecipe('22 bits of score, 41 bits of 2^41 − 1 − ms', MS, {
    holdsTo: 4_095,
    scoreOf: (score, ms) => (BigInt(score) << 41n) | (2n ** 41n - 1n - BigInt(ms)),
    shown: over(2 ** 41),
  }),
  timeRecipe('score + 1 − seconds / 10^10', SECOND, {
    holdsTo: 524_287,
    scoreOf: (score, s) => score + 1 - s / 1e10,
    shown: whole,
  }),
  timeRecipe('score + 1 − ms / 10^13', MS, {
    holdsTo: 511,
    scoreOf: (score, ms) => score + 1 - ms / 1e13,
    shown: whole,
  }),
  contestRecipe,
];

/** Recipes for sums that do not read the old score first. */
export const sumRecipes = {
  plain: {
    name: '`ZINCRBY` gain: ties by name',
    steps: ({ gains }) => gains.map(({ values: [gain = 0] }) => gain),
    shown: (score) => [score],
  },
  timeOnce: {
    name: '`ZINCRBY` gain × 10^11, the time set once',
    steps: ({ gains }) =>
      gains.map(({ values: [gain = 0], at }, index) =>
        index > 0 ? gain * 1e11 : gain * 1e11 + 1e11 - Math.floor(at / SECOND),
      ),
    shown: over(1e11),
  },
  decimal: {
    name: '`ZINCRBY` gain × 10^11 − seconds since the last',
    steps: moving((gain, seconds) => gain * 1e11 - seconds, 1e11, SECOND),
    shown: over(1e11),
  },
  bits: {
    name: '`ZINCRBY` gain × 2^41 − ms since the last',
    steps: moving((gain, ms) => gain * 2 ** 41 - ms, 2 ** 41 - 1, MS),
    shown: over(2 ** 41),
  },
  fraction: {
    name: '`ZINCRBY` gain − ms since the last / 10^13',
    steps: moving((gain, ms) => gain - ms / 1e13, 1, MS),
    shown: whole,
  },
} satisfies Record<string, Recipe>;

/** For points, goal difference and goals, packed by powers of ten. */
export const footballRecipes: readonly Recipe[] = [
  {
    name: 'points × 10^6 + difference × 10^3 + goals',
    steps: ({ columns: [points = 0, difference = 0, goals = 0] }) => [
      points * 1e6 + difference * 1e3 + goals,
    ],
    shown: (score) => fields(score, 0),
  },
  {
    name: 'points × 10^6 + (difference + 500) × 10^3 + goals',
    steps: (player) => [packed(player)],
    shown: (score) => fields(score, 500),
  },
  {
    name: 'the same × 10^10 + (10^10 − seconds)',
    steps: (player) => [packed(player) * 1e10 + (1e10 - Math.floor(player.at / SECOND))],
    shown: (score) => fields(Math.floor(score / 1e10), 500),
  },
];

/** For stars and coins, packed by powers of ten. */
export const starRecipes: readonly Recipe[] = [
  {
    name: 'stars × 10^5 + coins: ties by name',
    steps: ({ columns: [held = 0, coins = 0] }) => [held * 1e5 + coins],
    shown: (score) => [Math.floor(score / 1e5), score % 1e5],
  },
  {
    name: '(stars × 10^5 + coins) × 10^10 + (10^10 − seconds)',
    steps: ({ columns: [held = 0, coins = 0], at }) => [
      (held * 1e5 + coins) * 1e10 + (1e10 - Math.floor(at / SECOND)),
    ],
    shown: (score) => [Math.floor(score / 1e15), Math.floor(score / 1e10) % 1e5],
  },
  {
    name: '(stars × 10^5 + coins) × 10^13 + (10^13 − ms)',
    steps: ({ columns: [held = 0, coins = 0], at }) => [(held * 1e5 + coins) * 1e13 + (1e13 - at)],
    shown: (score) => [Math.floor(score / 1e18), Math.floor(score / 1e13) % 1e5],
  },
];

/** For tenths. */
export const decimalRecipes: readonly Recipe[] = [
  {
    name: '`ZINCRBY` 0.1, `ZINCRBY` 0.7, …',
    steps: ({ gains }) => gains.map(({ values: [gain = 0] }) => gain / 10),
    // Only the double nearest to n / 10 prints as n / 10; others print more digits.
    shown: (score) => [score === Math.round(score * 10) / 10 ? Math.round(score * 10) : NaN],
  },
  {
    name: '`ZINCRBY` 1, `ZINCRBY` 7, … (whole tenths)',
    steps: ({ gains }) => gains.map(({ values: [gain = 0] }) => gain),
    shown: (score) => [score],
  },
];

function timeRecipe(
  name: string,
  tick: TimeRecipe['tick'],
  how: Pick<TimeRecipe, 'holdsTo' | 'scoreOf' | 'shown'>,
): TimeRecipe {
  const steps = ({ columns: [score = 0], at }: Player) => [
    how.scoreOf(score, Math.floor(at / tick)),
  ];
  return { name, tick, steps, ...how };
}

/**
 * Each step subtracts the time since the previous one; the first step subtracts the time since
 * 1970, and adds `start`.
 */
function moving(
  stepOf: (gain: number, ticks: number) => number,
  start: number,
  tick: number,
): Recipe['steps'] {
  const time = (at = 0) => Math.floor(at / tick);
  return ({ gains }) =>
    gains.map(({ values: [gain = 0], at }, index) => {
      const step = stepOf(gain, time(at) - time(gains[index - 1]?.at));
      return index > 0 ? step : step + start;
    });
}

function packed({ columns: [points = 0, difference = 0, goals = 0] }: Player): number {
  return points * 1e6 + (difference + 500) * 1e3 + goals;
}

function fields(score: number, offset: number): number[] {
  const rest = score - Math.floor(score / 1e6) * 1e6;
  return [Math.floor(score / 1e6), Math.floor(rest / 1e3) - offset, rest % 1e3];
}
