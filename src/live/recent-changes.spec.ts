import { describe, expect, it } from '@jest/globals';
import { MOST_CHANGES, rankChangeEvent, RecentChanges } from './recent-changes.js';

describe('RecentChanges', () => {
  const recent = new RecentChanges([0, 0]);
  const add = (board: string, playerId: string, timestamp: number) => {
    const value = Buffer.from(JSON.stringify({ board, playerId, occurredAt: `t-${timestamp}` }));
    const event = rankChangeEvent(value);
    recent.add({ partition: 0, offset: timestamp, timestamp, board, playerId, event });
  };
  const times = () => recent.ofPlayer('arena', 'ada').map(({ occurredAt }) => occurredAt);

  it('has the changes of one player of one board, oldest first', () => {
    expect([recent.heldSince, times()]).toEqual([null, []]);
    add('arena', 'ada', 3);
    add('arena', 'bob', 2);
    add('cup', 'ada', 4);
    add('arena', 'ada', 1); // of a partition that was read later
    expect(times()).toEqual(['t-1', 't-3']);
    expect(recent.heldSince).toBe('1970-01-01T00:00:00.001Z');
  });

  it('has the last 1,000, and says since when it holds all after it has dropped the oldest', () => {
    for (let time = 10; time <= 1_010; time++) add('arena', 'ada', time);
    expect([times().length, times()[0]]).toEqual([1_000, 't-11']);
    for (let time = 2_000; time < 2_000 + MOST_CHANGES; time++) add('cup', 'ada', time);
    expect(times()).toEqual([]);
    expect(Date.parse(recent.heldSince ?? '')).toBeGreaterThanOrEqual(2_000);
  });
});
