import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  decodeLeaderChange,
  encodeLeaderChange,
  leaderMovements,
  type LeaderChange,
} from './leader-change.js';
import { MalformedRecordError } from './result-contract.js';

const CHANGE = {
  board: 'arena',
  generation: '1763629200000000-0a1b',
  view: 'week:2026-W47 region=eu',
  version: Number.MAX_SAFE_INTEGER,
  since: 41,
  source: { topic: 'ranklog.score-events', partition: 3, offset: 41_205 },
  occurredAt: '2026-11-20T09:00:00.123Z',
  top: [
    { playerId: 'p-17', rank: 1, competitionRank: 1, columns: { points: '9007199254740991' } },
    { playerId: 'p-4', rank: 2, competitionRank: 1, columns: { points: '9007199254740991' } },
  ],
  entered: [{ playerId: 'p-17', rank: 1 }],
  left: [{ playerId: 'p-9', rankBefore: 2 }],
  moved: [{ playerId: 'p-4', rankBefore: 1, rankAfter: 2 }],
} satisfies LeaderChange;

const record = (value: string | null, headers = {}) => ({
  key: Buffer.from('arena week:2026-W47 region=eu'),
  value: value === null ? null : Buffer.from(value),
  headers,
});

function problems(value: string | null, headers = {}): string {
  try {
    decodeLeaderChange(record(value, headers));
  } catch (error) {
    if (error instanceof MalformedRecordError) return error.problems;
    throw error;
  }
  throw new Error('accepted');
}

describe('a leader change', () => {
  it.each([
    ['after a previous leader change', CHANGE],
    ['without a previous leader change', { ...CHANGE, since: null }],
    ['with changes of columns only', { ...CHANGE, entered: [], left: [], moved: [] }],
  ])('%s is decoded to the same value', (_, change) => {
    const { value, headers } = encodeLeaderChange(change);
    expect(decodeLeaderChange(record(value, headers))).toEqual(change);
  });

  it('is keyed by board and view, with an id from its cause and view', () => {
    expect(encodeLeaderChange(CHANGE)).toMatchObject({
      key: 'arena week:2026-W47 region=eu',
      headers: {
        ce_id: 'ranklog.score-events/3/41205 week:2026-W47 region=eu',
        ce_type: 'ranklog.leaders-changed.v1',
        ce_source: '/ranklog/ranklog.score-events',
      },
    });
  });

  it('is encoded without unknown fields of the object', () => {
    const { value } = encodeLeaderChange({ ...CHANGE, kind: 'leaderChange' } as LeaderChange);
    expect(JSON.parse(value)).toEqual(CHANGE);
  });

  it('is read without headers, and with unknown fields', () => {
    const text = JSON.stringify({ ...CHANGE, more: 1 });
    expect(decodeLeaderChange(record(text))).toMatchObject(CHANGE);
  });
});

describe('an invalid leader change', () => {
  it.each([
    ['no value', null, 'not JSON'],
    ['text', 'hello', 'not JSON'],
    ['a list', '[]', 'must be an object'],
    ['an empty object', '{}', 'board'],
    ['no since', JSON.stringify({ ...CHANGE, since: undefined }), 'since'],
    ['a number for a column', JSON.stringify(CHANGE).replace('"9007199254740991"', '1'), 'columns'],
    ['a leader with an empty id', JSON.stringify(CHANGE).replace('"p-17"', '""'), 'playerId'],
  ])('is refused with a reason: %s', (_, value, reason) => {
    expect(problems(value)).toContain(reason);
  });

  it('is refused for its type before its value is read', () => {
    expect(problems('hello', { ce_type: Buffer.from('ranklog.rank-changed.v1') })).toContain(
      'ranklog.rank-changed.v1',
    );
  });
});

const ranked = (ids: readonly string[]) =>
  ids.map((playerId, index) => ({ playerId, rank: index + 1 }));

/** Tops from few players, so that most players are in both. */
const top = fc.uniqueArray(
  fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', '__proto__', 'constructor'),
  {
    maxLength: 6,
  },
);

describe('the movements between two tops', () => {
  it('are the players who entered, left or moved', () => {
    expect(leaderMovements(['a', 'b', 'c', 'd'], ranked(['a', 'x', 'b', 'd']))).toEqual({
      entered: [{ playerId: 'x', rank: 2 }],
      left: [{ playerId: 'c', rankBefore: 3 }],
      moved: [{ playerId: 'b', rankBefore: 2, rankAfter: 3 }],
    });
  });

  it('are empty if only columns changed', () => {
    expect(leaderMovements(['a', 'b'], ranked(['a', 'b']))).toEqual({
      entered: [],
      left: [],
      moved: [],
    });
  });

  it('are the whole top, entered, if there was none before', () => {
    expect(leaderMovements([], ranked(['a', 'b'])).entered).toEqual(ranked(['a', 'b']));
  });

  it('equal the movements that a search for each player finds, in order of rank', () => {
    fc.assert(
      fc.property(top, top, (before, after) => {
        const entered = after
          .filter((playerId) => !before.includes(playerId))
          .map((playerId) => ({ playerId, rank: after.indexOf(playerId) + 1 }));
        const left = before
          .filter((playerId) => !after.includes(playerId))
          .map((playerId) => ({ playerId, rankBefore: before.indexOf(playerId) + 1 }));
        const moved = after
          .filter((playerId, index) => before.includes(playerId) && before[index] !== playerId)
          .map((playerId) => ({
            playerId,
            rankBefore: before.indexOf(playerId) + 1,
            rankAfter: after.indexOf(playerId) + 1,
          }));
        expect(leaderMovements(before, ranked(after))).toEqual({ entered, left, moved });
      }),
      { numRuns: 1_000 },
    );
  });
});
