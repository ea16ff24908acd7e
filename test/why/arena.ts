import { createHash } from 'node:crypto';
import { playerOf, type Gain, type Player } from './players.js';

const SEED = 'ranklog';
const START = Date.parse('2026-11-20T18:00:00.000Z');
const MINUTE = 60_000;

/** When both contests end. */
export const END = START + 10 * MINUTE;

/**
 * 3,000 players with one to five gains each in the last minute of a contest. A player's gains are 1
 * to 4 times the player's unit, a power of ten from 1 to 100,000: scores from 1 to 2,000,000, at
 * most 20 different ones of each unit.
 */
export const arena: readonly Player[] = players(3_000, (draw) => {
  const unit = 10 ** Math.floor(draw(0) * 6);
  return times(1 + Math.floor(draw(1) * 5), (index) => ({
    values: [unit * (1 + Math.floor(draw(2 * index + 2) * 4))],
    at: END - 1 - Math.floor(draw(2 * index + 3) * MINUTE),
  }));
});

/**
 * 1,000 players, one gain each in the last minute: 0 to 300 stars in steps of 30, and 0 to 90,000
 * coins in steps of 10,000.
 */
export const stars: readonly Player[] = players(1_000, (draw) => [
  {
    values: [30 * Math.floor(draw(0) * 11), 10_000 * Math.floor(draw(1) * 10)],
    at: END - 1 - Math.floor(draw(2) * MINUTE),
  },
]);

/**
 * 1,000 players with up to twelve gains of 0.1 to 2.0, in tenths, all at one time: only the sum
 * counts, then the id.
 */
export const tenths: readonly Player[] = players(1_000, (draw) =>
  times(1 + Math.floor(draw(0) * 12), (index) => ({
    values: [1 + Math.floor(draw(index + 1) * 20)],
    at: START,
  })),
);

/** A player's random number `index`, from 0 to 1: the same in every test run. */
type Draw = (index: number) => number;

function players(count: number, gainsOf: (draw: Draw) => Gain[]): Player[] {
  return times(count, (index) => {
    const id = `p${String(index).padStart(4, '0')}`;
    return playerOf(id, gainsOf(drawsOf(id)));
  });
}

function drawsOf(id: string): Draw {
  return (index) => {
    const digest = createHash('sha256').update(`${SEED} ${id} ${index}`).digest();
    return digest.readUInt32BE() / 2 ** 32;
  };
}

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
