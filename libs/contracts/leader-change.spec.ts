import { describe, expect, it } from '@jest/globals';
import {
  decodeLeaderChange,
  encodeLeaderChange,
  MalformedLeaderChangeError,
  type LeaderChange,
} from './leader-change.js';

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
    if (error instanceof MalformedLeaderChangeError) return error.problems;
    throw error;
  }
  throw new Error('taken');
}

describe('a leader change', () => {
  it.each([
    ['since an earlier report', CHANGE],
    ['with nothing known before it', { ...CHANGE, since: null }],
    ['in which only columns changed', { ...CHANGE, entered: [], left: [], moved: [] }],
  ])('%s reads back as it was', (_, change) => {
    const { value, headers } = encodeLeaderChange(change);
    expect(decodeLeaderChange(record(value, headers))).toEqual(change);
  });

  it('is keyed by board and view and has an id from its cause and the view', () => {
    expect(encodeLeaderChange(CHANGE)).toMatchObject({
      key: 'arena week:2026-W47 region=eu',
      headers: {
        ce_id: 'ranklog.score-events/3/41205 week:2026-W47 region=eu',
        ce_type: 'ranklog.leaders-changed.v1',
        ce_source: '/ranklog/ranklog.score-events',
      },
    });
  });

  it('is written without what else its object holds', () => {
    const { value } = encodeLeaderChange({ ...CHANGE, kind: 'leaderChange' } as LeaderChange);
    expect(JSON.parse(value)).toEqual(CHANGE);
  });

  it('is read without headers too, and with fields of a later version', () => {
    const text = JSON.stringify({ ...CHANGE, more: 1 });
    expect(decodeLeaderChange(record(text))).toMatchObject(CHANGE);
  });
});

describe('a record that is no leader change', () => {
  it.each([
    ['no value', null, 'not JSON'],
    ['text', 'hello', 'not JSON'],
    ['a list', '[]', 'not an object'],
    ['an empty object', '{}', 'board'],
    ['no since', JSON.stringify({ ...CHANGE, since: undefined }), 'since'],
    ['a number for a column', JSON.stringify(CHANGE).replace('"9007199254740991"', '1'), 'columns'],
    ['a leader without a name', JSON.stringify(CHANGE).replace('"p-17"', '""'), 'playerId'],
  ])('because of %s is refused with a reason', (_, value, reason) => {
    expect(problems(value)).toContain(reason);
  });

  it('because of its type is refused before its value is read', () => {
    expect(problems('hello', { ce_type: Buffer.from('ranklog.rank-changed.v1') })).toContain(
      'ranklog.rank-changed.v1',
    );
  });
});
