import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { LiveBoard } from '#board-store';
import { Sweeper } from './sweeper.js';

const EVERY_MS = 1_000;

/** A sweeper whose boards have these numbers of expired views, removed 100 at a time. */
function sweeperOf(expired: Record<string, number>, sweep?: () => Promise<number>) {
  const left = new Map(Object.entries(expired));
  const words: string[] = [];
  const calls: string[] = [];
  const store = {
    sweep: ({ board }: LiveBoard): Promise<number> => {
      calls.push(board);
      if (sweep !== undefined) return sweep();
      const views = left.get(board) ?? 0;
      if (Number.isNaN(views)) return Promise.reject(new Error('Redis is away'));
      left.set(board, Math.max(0, views - 100));
      return Promise.resolve(Math.min(views, 100));
    },
  };
  const live = (board: string) => ({ board, generation: board }) as LiveBoard;
  const boards = new Map([...left.keys()].map((board) => [board, live(board)]));
  const none = new Set<string>();
  const current = { live: boards, building: none, removed: none, versions: [] };
  const note = (message: string) => words.push(message);
  const sweeper = new Sweeper(store, { current }, { info: note, warn: note }, EVERY_MS);
  return { sweeper, words, calls, left };
}

describe('the sweeper', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('removes all views that have expired, however many', async () => {
    const { sweeper, words, left } = sweeperOf({ arena: 1_001, golf: 0 });
    await sweeper.sweep();
    expect(left.get('arena')).toBe(0);
    expect(words).toEqual(['board "arena": removed 1001 expired view(s)']);
  });

  it('goes on with the other boards when one fails', async () => {
    const { sweeper, words, left } = sweeperOf({ arena: NaN, golf: 3 });
    await sweeper.sweep();
    expect(left.get('golf')).toBe(0);
    expect(words).toContain('expired views of board "arena" stay for now: Redis is away');
  });

  it('begins none while one is in hand, and ends with that one', async () => {
    let answer: (removed: number) => void = () => undefined;
    const { sweeper, calls } = sweeperOf(
      { arena: 0, golf: 0 },
      () => new Promise((resolve) => (answer = resolve)),
    );
    sweeper.start();
    await jest.advanceTimersByTimeAsync(10 * EVERY_MS);
    expect(calls).toEqual(['arena']);
    const stopped = sweeper.stop();
    answer(100);
    await stopped;
    expect(calls).toEqual(['arena']);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('begins again at the next turn', async () => {
    const { sweeper, calls } = sweeperOf({ arena: 0 });
    sweeper.start();
    await jest.advanceTimersByTimeAsync(3 * EVERY_MS);
    expect(calls).toEqual(['arena', 'arena', 'arena']);
    await sweeper.stop();
  });
});
