import { randomInt } from 'node:crypto';

/**
 * Random numbers from 0 to 1, by the seed RANKLOG_TEST_SEED or a new one. Print the seed, so that a
 * failure can be repeated.
 */
export function seededRandom(): { random: () => number; seed: number } {
  const seed = Number(process.env['RANKLOG_TEST_SEED'] ?? randomInt(2 ** 31));
  return { random: randomFrom(seed), seed };
}

/** Random numbers from 0 to 1 for a seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
