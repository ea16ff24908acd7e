import { describe, expect, it } from '@jest/globals';
import type { LeaderChange } from '#client';
import { describeLeaders } from './leaders-line.js';

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

describe('the line of a leader change', () => {
  it('tells who entered, moved and left, and the new top', () => {
    expect(describeLeaders(CHANGE)).toBe(
      '2026-11-20T09:00:00.123Z  arena  all region=eu  ada new -> 1  bob 1 -> 2  cyd 2 -> out  top: ada (97 0), bob (96 0)\n',
    );
  });

  it('tells the top alone when only columns changed', () => {
    expect(describeLeaders({ ...CHANGE, entered: [], left: [], moved: [] })).toBe(
      '2026-11-20T09:00:00.123Z  arena  all region=eu  top: ada (97 0), bob (96 0)\n',
    );
  });
});
