import { describe, expect, it } from '@jest/globals';
import type { RankChange } from '#client';
import { describeMovements } from './movement-line.js';

type Placing = NonNullable<RankChange['changes'][number]['after']>;

const place = (rank: number, points: string): Placing => ({
  rank,
  competitionRank: rank,
  columns: { points, goals: '0' },
});

const line = (before: Placing | null, after: Placing | null): string =>
  describeMovements({
    board: 'arena',
    generation: '1-a',
    playerId: 'ada',
    source: { topic: 'ranklog.score-events', partition: 0, offset: 7 },
    occurredAt: '2026-11-20T09:00:00.123Z',
    changes: [{ view: 'all region=eu', version: 8, before, after }],
  });

describe('the line of a rank change', () => {
  it.each([
    ['entered', null, place(5, '3'), 'new -> 5  points 3  goals 0'],
    ['moved', place(3, '3'), place(1, '9'), '3 -> 1  points 9 (was 3)  goals 0'],
    ['left', place(3, '3'), null, '3 -> out'],
  ])('tells that the player %s', (_, before, after, what) => {
    expect(line(before, after)).toBe(
      `2026-11-20T09:00:00.123Z  arena  ada  all region=eu  ${what}\n`,
    );
  });
});
