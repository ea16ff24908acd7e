import { describe, expect, it } from '@jest/globals';
import type { LeaderChange, PeriodResult, RankChange } from '#client';
import { leaderChangeLine, periodResultLine, rankChangeLines } from './result-lines.js';

type Placing = NonNullable<RankChange['changes'][number]['after']>;

const place = (rank: number, points: string): Placing => ({
  rank,
  competitionRank: rank,
  columns: { points, goals: '0' },
});

const line = (before: Placing | null, after: Placing | null): string =>
  rankChangeLines({
    board: 'arena',
    generation: '1-a',
    playerId: 'ada',
    source: { topic: 'ranklog.score-events', partition: 0, offset: 7 },
    occurredAt: '2026-11-20T09:00:00.123Z',
    changes: [{ view: 'all region=eu', version: 8, before, after }],
  });

describe('rankChangeLines', () => {
  it.each([
    ['entered', null, place(5, '3'), 'new -> 5  points 3  goals 0'],
    ['moved', place(3, '3'), place(1, '9'), '3 -> 1  points 9 (was 3)  goals 0'],
    ['left', place(3, '3'), null, '3 -> out'],
  ])('shows a player who %s', (_, before, after, what) => {
    expect(line(before, after)).toBe(
      `2026-11-20T09:00:00.123Z  arena  ada  all region=eu  ${what}\n`,
    );
  });
});

const leader = (playerId: string, rank: number, points: string) => ({
  playerId,
  rank,
  competitionRank: rank,
  columns: { points, goals: '0' },
});

const CHANGE = {
  board: 'arena',
  generation: '1-a',
  view: 'all region=eu',
  version: 8,
  since: 5,
  source: { topic: 'ranklog.score-events', partition: 0, offset: 7 },
  occurredAt: '2026-11-20T09:00:00.123Z',
  top: [leader('ada', 1, '97'), leader('bob', 2, '96')],
  entered: [{ playerId: 'ada', rank: 1 }],
  left: [{ playerId: 'cyd', rankBefore: 2 }],
  moved: [{ playerId: 'bob', rankBefore: 1, rankAfter: 2 }],
} satisfies LeaderChange;

describe('leaderChangeLine', () => {
  it('shows who entered, moved and left, and the new top', () => {
    expect(leaderChangeLine(CHANGE)).toBe(
      '2026-11-20T09:00:00.123Z  arena  all region=eu  ada new -> 1  bob 1 -> 2  cyd 2 -> out  top: ada (97 0), bob (96 0)\n',
    );
  });

  it('shows only the top when only columns changed', () => {
    expect(leaderChangeLine({ ...CHANGE, entered: [], left: [], moved: [] })).toBe(
      '2026-11-20T09:00:00.123Z  arena  all region=eu  top: ada (97 0), bob (96 0)\n',
    );
  });
});

describe('periodResultLine', () => {
  const RESULT = {
    board: 'arena',
    generation: '1-a',
    view: 'week:2026-W47 region=eu',
    window: 'week:2026-W47',
    start: '2026-11-16T00:00:00.000Z',
    end: '2026-11-23T00:00:00.000Z',
    revision: 2,
    size: 1207,
    results: CHANGE.top,
  } satisfies PeriodResult;

  it('shows the end, the revision, the size and the first players', () => {
    expect(periodResultLine(RESULT)).toBe(
      '2026-11-23T00:00:00.000Z  arena  week:2026-W47 region=eu  revision 2  players 1207  first: ada (97 0), bob (96 0)\n',
    );
  });

  it('says that a view has nobody', () => {
    expect(periodResultLine({ ...RESULT, size: 0, results: [] })).toMatch(
      /players 0 {2}first: nobody\n$/,
    );
  });
});
