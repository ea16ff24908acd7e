import { describe, expect, it } from '@jest/globals';
import type { LiveBoard } from '#board-store';
import { loggerTo } from '../../test/support/loggers.js';
import { LiveBoards } from './live-boards.js';

/**
 * Boards with a number of expired views, of which each call deletes up to 100; NaN for a board
 * whose calls fail.
 */
async function boardsWith(expired: Record<string, number>) {
  const left = new Map(Object.entries(expired));
  const live = new Map([...left.keys()].map((board) => [board, { board } as LiveBoard]));
  const none = new Set<string>();
  const boards = new LiveBoards({
    boards: () => Promise.resolve({ live, building: none, removed: none, versions: [] }),
    areRegistered: () => Promise.resolve(true),
    sweep: ({ board }: LiveBoard): Promise<number> => {
      const views = left.get(board) ?? 0;
      if (Number.isNaN(views)) return Promise.reject(new Error('Redis is away'));
      left.set(board, Math.max(0, views - 100));
      return Promise.resolve(Math.min(views, 100));
    },
  });
  await boards.refresh();
  const logged: string[] = [];
  const logger = loggerTo((message) => logged.push(message));
  const stopping = new AbortController();
  const deleted = () => boards.deleteExpiredViews(logger, stopping.signal);
  return { deleted, stopping, logged, left };
}

describe('the deletion of expired views', () => {
  it('deletes all expired views, however many', async () => {
    const { deleted, logged, left } = await boardsWith({ arena: 1_001, golf: 0 });
    await deleted();
    expect(left.get('arena')).toBe(0);
    expect(logged).toEqual(['board "arena": removed 1001 expired view(s)']);
  });

  it('goes on with the other boards when one fails, and names the failed one', async () => {
    const { deleted, left } = await boardsWith({ arena: NaN, golf: 3 });
    await expect(deleted()).rejects.toThrow('board "arena": Redis is away');
    expect(left.get('golf')).toBe(0);
  });

  it('ends with the call in progress when it is stopped', async () => {
    const { deleted, stopping, left } = await boardsWith({ arena: 1_001, golf: 3 });
    const ending = deleted();
    stopping.abort();
    await ending;
    expect(Object.fromEntries(left)).toEqual({ arena: 901, golf: 3 });
  });
});
