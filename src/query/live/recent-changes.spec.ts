import { describe, expect, it } from '@jest/globals';
import { MOST_CHANGES, positionText, RecentChanges } from './recent-changes.js';

describe('RecentChanges', () => {
  /** Changes of these times, by partition; the offsets are the times. */
  const holding = (starts: number[], ...changes: [string, number, number][]) => {
    const recent = new RecentChanges(starts);
    for (const [board, partition, timestamp] of changes) {
      const event = Buffer.from(`event: rank-change\ndata: {"occurredAt":"t-${timestamp}"}\n\n`);
      const where = { partition, offset: timestamp, timestamp };
      recent.add({ ...where, board, playerId: board === 'arena' ? 'ada' : 'bob', event });
    }
    const times = recent.ofPlayer('arena', 'ada').map(({ occurredAt }) => occurredAt);
    return { times, since: Date.parse(recent.heldSince ?? '') };
  };

  it('has the changes of one player of one board, oldest first', () => {
    expect(holding([0])).toEqual({ times: [], since: NaN });
    // Partition 1 is read later.
    const found = holding([0, 0], ['arena', 0, 3], ['cup', 0, 4], ['arena', 1, 1]);
    expect(found).toEqual({ times: ['t-1', 't-3'], since: 1 });
  });

  it('says since when it holds all changes, if earlier ones of a partition were not read', () => {
    expect(holding([0, 5], ['arena', 0, 1], ['arena', 1, 7], ['arena', 1, 8]).since).toBe(7);
  });

  it('has the last 1,000, and drops the oldest', () => {
    const arena = Array.from({ length: 1_001 }, (_, id) => ['arena', 0, id] as [string, 0, number]);
    const found = holding([0], ...arena);
    expect([found.times.length, found.times[0]]).toEqual([1_000, 't-1']);
    const cup = Array.from({ length: MOST_CHANGES }, (_, id) => ['cup', 0, 2_000 + id] as const);
    const dropped = holding(
      [0],
      ...arena,
      ...cup.map(([...change]) => change as [string, 0, number]),
    );
    expect(dropped.times).toEqual([]);
    expect(dropped.since).toBeGreaterThanOrEqual(2_000);
  });

  it('gives the changes from a position on, or none if it has dropped some of them', () => {
    const recent = new RecentChanges([0]);
    const add = (offset: number) =>
      recent.add({
        ...{ partition: 0, offset, timestamp: offset, board: 'arena', playerId: 'ada' },
        event: Buffer.from(`event ${offset}`),
      });
    for (let offset = 0; offset < MOST_CHANGES; offset++) add(offset);
    expect(recent.since([MOST_CHANGES - 1], 'arena')?.map(String)).toEqual([
      `id: ${positionText([MOST_CHANGES])}\n`,
      `event ${MOST_CHANGES - 1}`,
    ]);
    expect(recent.since([5], 'arena')).toHaveLength(2 * (MOST_CHANGES - 5));
    add(MOST_CHANGES);
    expect(recent.since([5], 'arena')).toBeUndefined();
  });
});
