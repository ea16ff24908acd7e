import { describe, expect, it } from '@jest/globals';
import { decodeRankChange, encodeRankChange, type RankChange } from './rank-change.js';
import { MalformedRecordError } from './result-contract.js';

const CHANGE = {
  board: 'arena',
  generation: '1763629200000000-0a1b',
  playerId: 'p-17',
  source: { topic: 'ranklog.score-events', partition: 3, offset: 41_205 },
  occurredAt: '2026-11-20T09:00:00.123Z',
  changes: [
    {
      view: 'all',
      version: Number.MAX_SAFE_INTEGER,
      before: null,
      after: { rank: 2, competitionRank: 1, columns: { points: '9007199254740991' } },
    },
  ],
} satisfies RankChange;

const record = (value: string | null, headers = {}) => ({
  key: Buffer.from('p-17'),
  value: value === null ? null : Buffer.from(value),
  headers,
});

function problems(value: string | null, headers = {}): string {
  try {
    decodeRankChange(record(value, headers));
  } catch (error) {
    if (error instanceof MalformedRecordError) return error.problems;
    throw error;
  }
  throw new Error('accepted');
}

describe('a rank change', () => {
  it.each([
    ['for a new player', CHANGE],
    ['with an event id', { ...CHANGE, eventId: 'e-1' }],
    [
      'for a player who left',
      {
        ...CHANGE,
        changes: CHANGE.changes.map((one) => ({ ...one, before: one.after, after: null })),
      },
    ],
    [
      'with overtaken players',
      {
        ...CHANGE,
        changes: CHANGE.changes.map((movement) => ({
          ...movement,
          overtook: [{ playerId: 'p-4', rankBefore: 2, rankAfter: 3 }],
        })),
      },
    ],
    ['for a player in two views', { ...CHANGE, changes: [...CHANGE.changes, ...CHANGE.changes] }],
  ])('%s is decoded to the same value', (_, change) => {
    const { value, headers } = encodeRankChange(change, JSON.stringify(change.changes));
    expect(decodeRankChange(record(value, headers))).toEqual(change);
  });

  it('is keyed by player and has an id from its cause', () => {
    expect(encodeRankChange(CHANGE, JSON.stringify(CHANGE.changes))).toMatchObject({
      key: 'p-17',
      headers: {
        ce_id: 'ranklog.score-events/3/41205',
        ce_type: 'ranklog.rank-changed.v1',
        ce_source: '/ranklog/ranklog.score-events',
      },
    });
  });

  it('is read without headers, and with unknown fields', () => {
    expect(decodeRankChange(record(JSON.stringify({ ...CHANGE, more: 1 })))).toMatchObject(CHANGE);
  });
});

it('has a type that makes readers handle players who left', () => {
  const { changes }: RankChange = CHANGE;
  for (const { after } of changes) {
    // @ts-expect-error after can be null: npm run types checks that this line is refused
    const rank: number = after.rank;
    expect(rank).toBe(2);
  }
});

describe('an invalid rank change', () => {
  it.each([
    ['no value', null, 'not JSON'],
    ['text', 'hello', 'not JSON'],
    ['a list', '[]', 'must be an object'],
    ['null', 'null', 'must be an object'],
    ['an empty object', '{}', 'board'],
    [
      'a movement without `after`',
      JSON.stringify({ ...CHANGE, changes: [{ view: 'all', version: 1, before: null }] }),
      'after',
    ],
    [
      'an overtaken player without a rank',
      JSON.stringify(CHANGE).replace(
        '"before":null',
        '"before":null,"overtook":[{"playerId":"a"}]',
      ),
      'rankBefore',
    ],
    ['no movement', JSON.stringify({ ...CHANGE, changes: [] }), 'changes'],
    ['a number for a column', JSON.stringify(CHANGE).replace('"9007199254740991"', '1'), 'columns'],
  ])('is refused with a reason: %s', (_, value, reason) => {
    expect(problems(value)).toContain(reason);
  });

  it('is refused for its type before its value is read', () => {
    expect(problems('hello', { ce_type: Buffer.from('ranklog.leaders-changed.v1') })).toContain(
      'ranklog.leaders-changed.v1',
    );
  });
});
