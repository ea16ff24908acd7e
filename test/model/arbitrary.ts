import { randomInt } from 'node:crypto';
import fc from 'fast-check';

/**
 * Random numbers, times and ids, made so that the hard cases are common: ties, equal times, late
 * events, the limits.
 */

/** Ids that sort differently by bytes, by UTF-16 and by locale; some are prefixes of others. */
// prettier-ignore
export const PLAYER_IDS = [
  'B', 'a', 'aa', 'aab', 'Z', 'é', 'e\u0301', '😀', '\uFFFD', 'ß', '0', '-1', 'a b', '~', '中', 'a\u00A0',
] as const;

const SAFE = Number.MAX_SAFE_INTEGER;
const HOUR = 3_600_000;
export const BASE_TIME = Date.parse('2026-11-20T09:00:00.000Z');
/**
 * Half an hour before clocks go back in Paris, so that day, week and month are an hour longer than
 * usual.
 */
const CLOCK_CHANGE = Date.parse('2026-10-25T00:30:00.000Z');

/** The seed of the first of the two checks of `knownAndNewRuns`. */
const KNOWN_SEED = 20_261_120;

const { RANKLOG_TEST_RUNS, RANKLOG_TEST_SEED } = process.env;

/**
 * The time limit of the test of a property, in ms: five minutes, or an hour if RANKLOG_TEST_RUNS is
 * set.
 */
export const PROPERTY_TIMEOUT = RANKLOG_TEST_RUNS === undefined ? 300_000 : 3_600_000;

/**
 * The settings of fast-check for one check of a property, which tries `numRuns` inputs.
 * RANKLOG_TEST_SEED repeats a check, RANKLOG_TEST_RUNS sets how many inputs it tries. A check ends
 * before its test times out, because a timeout would hide the counterexample of a late failure or
 * of a long shrinking.
 */
export function runs(usual: number, seed = Number(RANKLOG_TEST_SEED ?? randomInt(2 ** 31))) {
  const numRuns = Number(RANKLOG_TEST_RUNS ?? usual);
  return {
    numRuns,
    seed,
    interruptAfterTimeLimit: 0.8 * PROPERTY_TIMEOUT,
    markInterruptAsFailure: true as const,
    toString: () => `${numRuns} runs, RANKLOG_TEST_SEED=${seed}`,
  };
}

/**
 * The settings for a property that is checked twice: with KNOWN_SEED and a new seed. With
 * RANKLOG_TEST_SEED: once, with that.
 */
export function knownAndNewRuns(usual: number) {
  return RANKLOG_TEST_SEED === undefined ? [runs(usual, KNOWN_SEED), runs(usual)] : [runs(usual)];
}

/** A value in minor units. */
export const valueArbitrary: fc.Arbitrary<number> = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(0, 0, 1, -1, 2) },
  { weight: 4, arbitrary: fc.integer({ min: -300, max: 300 }) },
  { weight: 1, arbitrary: fc.constantFrom(SAFE, -SAFE, SAFE - 1, 1 - SAFE, 2 ** 52, -(2 ** 52)) },
  { weight: 1, arbitrary: fc.maxSafeInteger() },
);

/**
 * What the values in the log of one partition are like: of all kinds, only 0 and 1, or mostly at
 * the ends of the range.
 */
export const valuesArbitrary: fc.Arbitrary<fc.Arbitrary<number>> = fc.constantFrom(
  valueArbitrary,
  fc.constantFrom(0, 1),
  fc.constantFrom(SAFE, -SAFE, SAFE - 1, 1, -1),
);

/** Mostly one of six times; else up to 48 hours or 70 days away, or near a clock change. */
export const timeArbitrary: fc.Arbitrary<number> = fc.oneof(
  { weight: 10, arbitrary: fc.integer({ min: 0, max: 5 }).map((ms) => BASE_TIME + ms) },
  { weight: 4, arbitrary: fc.integer({ min: -48, max: 48 }).map((h) => BASE_TIME + h * HOUR) },
  { weight: 1, arbitrary: fc.integer({ min: -70, max: 70 }).map((d) => BASE_TIME + d * 24 * HOUR) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 4 }).map((h) => CLOCK_CHANGE + h * HOUR) },
);

const ENDS_OF_TIME = ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'].map(Date.parse);
/** The same, and now and then a time near 1970 or at an end of the range of event times. */
export const wideTimeArbitrary: fc.Arbitrary<number> = fc.oneof(
  { weight: 8, arbitrary: timeArbitrary },
  { weight: 1, arbitrary: fc.integer({ min: -3, max: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(...ENDS_OF_TIME) },
);
