import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TIES, type Ties } from './definition.js';
import { EARLIEST_TIME, LATEST_TIME, sortKey, type SortKey } from './sort-key.js';
import type { PlayerState } from './state.js';

const MAX = Number.MAX_SAFE_INTEGER;
const EDGES = [-MAX, 1 - MAX, -(2 ** 52), -256, -255, -1, 0, 1, 255, 256, 2 ** 52, MAX - 1, MAX];

const settled = (value: number, time: number) => ({ value, time, settled: true });

/** As Redis orders a sorted set. */
function compareKeys(a: SortKey, b: SortKey): number {
  return Math.sign(a.score - b.score || Buffer.compare(a.member, b.member));
}

interface Player {
  readonly state: PlayerState;
  readonly playerId: string;
}

/** As the design says it: columns, then the reach time, then the bytes of the player id. */
function comparePlayers(ties: Ties, a: Player, b: Player): number {
  for (const [index, { value }] of a.state.entries())
    if (value !== b.state[index]!.value) return value < b.state[index]!.value ? -1 : 1;
  const [timeA, timeB] = [a, b].map(({ state }) => Math.max(...state.map(({ time }) => time)));
  if (ties !== 'none' && timeA !== timeB) return timeA! < timeB! === (ties === 'earliest') ? -1 : 1;
  return Buffer.compare(Buffer.from(a.playerId), Buffer.from(b.playerId));
}

const value = fc.oneof(
  fc.constantFrom(...EDGES),
  fc.maxSafeInteger(),
  fc.integer({ min: -2, max: 2 }),
);
const time = fc.oneof(
  fc.constantFrom(EARLIEST_TIME, EARLIEST_TIME + 1, -1, 0, 1, LATEST_TIME - 1, LATEST_TIME),
  fc.integer({ min: EARLIEST_TIME, max: LATEST_TIME }),
);
const playerId = fc.oneof(
  fc.constantFrom('B', 'a', 'aa', 'é', 'e\u0301', '\uFFFD', '😀'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
);
const playersOf = (columns: number) =>
  fc.record({
    state: fc.array(fc.record({ value, time, settled: fc.boolean() }), {
      minLength: columns,
      maxLength: columns,
    }),
    playerId,
  });

describe('the sort key', () => {
  it('orders players as the design does, for any number of columns and any ties', () => {
    const pairs = fc
      .integer({ min: 1, max: 8 })
      .chain((columns) =>
        fc.tuple(playersOf(columns), playersOf(columns), fc.constantFrom(...TIES)),
      );
    fc.assert(
      fc.property(pairs, ([a, b, ties]) => {
        const [keyA, keyB] = [a, b].map((player) => sortKey(player.state, ties, player.playerId));
        expect(compareKeys(keyA!, keyB!)).toBe(comparePlayers(ties, a, b));
      }),
      { numRuns: 2_000 },
    );
  });

  it('orders players who differ in one thing only', () => {
    const pairs = playersOf(3).chain((player) =>
      fc.tuple(
        fc.constant(player),
        fc.oneof(
          value.map((other) => ({
            ...player,
            state: player.state.with(1, settled(other, player.state[1]!.time)),
          })),
          time.map((other) => ({
            ...player,
            state: player.state.map((column) => ({ ...column, time: other })),
          })),
          playerId.map((other) => ({ ...player, playerId: other })),
        ),
        fc.constantFrom(...TIES),
      ),
    );
    fc.assert(
      fc.property(pairs, ([a, b, ties]) => {
        const [keyA, keyB] = [a, b].map((player) => sortKey(player.state, ties, player.playerId));
        expect(compareKeys(keyA!, keyB!)).toBe(comparePlayers(ties, a, b));
      }),
      { numRuns: 2_000 },
    );
  });

  it('has the first column as its score', () => {
    for (const edge of EDGES)
      expect(sortKey([settled(edge, 0), settled(1, 0)], 'none', 'p').score).toBe(edge);
  });

  it('orders the ends of the range by bytes', () => {
    const members = EDGES.map(
      (edge) => sortKey([settled(0, 0), settled(edge, 0)], 'none', 'p').member,
    );
    expect([...members].reverse().sort((a, b) => Buffer.compare(a, b))).toEqual(members);
  });
});

describe('the bytes of a member', () => {
  it.each<[Ties, columns: number, width: number]>([
    ['none', 1, 0],
    ['earliest', 1, 7],
    ['latest', 1, 7],
    ['none', 3, 16],
    ['earliest', 8, 63],
  ])('with ties %s and %d columns begin with %d of the sort key', (ties, columns, width) => {
    const state = Array.from({ length: columns }, () => settled(-5, 12));
    const { member } = sortKey(state, ties, 'é😀');
    expect(member.subarray(width).toString()).toBe('é😀');
  });

  it.each([
    [0, '0100000000000000'],
    [1, '0100000000000001'],
    [-1, '001fffffffffffff'],
    [MAX, '011fffffffffffff'],
    [-MAX, '0000000000000001'],
  ])('write the further column %d as %s', (number, hex) => {
    expect(sortKey([settled(0, 0), settled(number, 0)], 'none', '').member.toString('hex')).toBe(
      hex,
    );
  });

  it.each<[Ties, number, string]>([
    ['earliest', EARLIEST_TIME, '00000000000000'],
    ['earliest', LATEST_TIME, '011efae44cb3ff'],
    ['latest', EARLIEST_TIME, '011efae44cb3ff'],
    ['latest', LATEST_TIME, '00000000000000'],
  ])('with ties %s write the reach time %d as %s', (ties, reached, hex) => {
    expect(sortKey([settled(0, reached)], ties, '').member.toString('hex')).toBe(hex);
  });
});
