import { describe, expect, it } from '@jest/globals';
import type { LiveBoard } from '#board-store';
import { loggerTo } from '../../test/support/loggers.js';
import { sweepViews } from './sweep-views.js';

/** Boards with so many expired views, of which a call removes 100; NaN for a board that fails. */
function boardsWith(expired: Record<string, number>) {
  const left = new Map(Object.entries(expired));
  const logged: string[] = [];
  const stopping = new AbortController();
  const store = {
    sweep: ({ board }: LiveBoard): Promise<number> => {
      const views = left.get(board) ?? 0;
      if (Number.isNaN(views)) return Promise.reject(new Error('Redis is away'));
      left.set(board, Math.max(0, views - 100));
      return Promise.resolve(Math.min(views, 100));
    },
  };
  const live = new Map([...left.keys()].map((board) => [board, { board } as LiveBoard]));
  const none = new Set<string>();
  const boards = { current: { live, building: none, removed: none, versions: [] } };
  const logger = loggerTo((message) => logged.push(message));
  return { parts: { store, boards, logger }, stopping, logged, left };
}

describe('sweepViews', () => {
  it('removes all expired views, however many', async () => {
    const { parts, stopping, logged, left } = boardsWith({ arena: 1_001, golf: 0 });
    await sweepViews(parts, stopping.signal);
    expect(left.get('arena')).toBe(0);
    expect(logged).toEqual(['board "arena": removed 1001 expired view(s)']);
  });

  it('goes on with the other boards when one fails, and names it', async () => {
    const { parts, stopping, left } = boardsWith({ arena: NaN, golf: 3 });
    const swept = sweepViews(parts, stopping.signal);
    await expect(swept).rejects.toThrow('board "arena": Redis is away');
    expect(left.get('golf')).toBe(0);
  });

  it('ends with the call in progress when it is stopped', async () => {
    const { parts, stopping, left } = boardsWith({ arena: 1_001, golf: 3 });
    const swept = sweepViews(parts, stopping.signal);
    stopping.abort();
    await swept;
    expect(Object.fromEntries(left)).toEqual({ arena: 901, golf: 3 });
  });
});
