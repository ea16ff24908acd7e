import { describe, expect, it } from '@jest/globals';
import { LATEST_TIME } from '#board';
import type { PageRequest, Standing, Standings } from '#board-store';
import { expiryText, readTop, type PageReader } from './pages.js';

const SIZE = 2_500;

/** Players in ties of seven, so that pages end within a tie. Only pages from the top have dense ranks, as on a real board. */
function standing(index: number, dense: boolean): Standing {
  const tie = Math.floor(index / 7);
  const behind = SIZE - Math.min(SIZE, 7 * (tie + 1));
  return {
    playerId: `p${index}`,
    rank: index + 1,
    competitionRank: 7 * tie + 1,
    ...(dense ? { denseRank: tie + 1 } : {}),
    aheadOf: behind,
    percentile: Math.floor((10_000 * behind) / SIZE) / 100,
    columns: { points: String(-tie) },
    reachedAt: '2026-01-01T00:00:00.000Z',
  };
}

/** A view whose version changes before read n (from 0, over all attempts) if `moves(n)`. */
class FakeReader implements PageReader {
  reads = 0;
  #version = 1;

  constructor(
    private readonly moves: (read: number) => boolean,
    private readonly size = SIZE,
  ) {}

  standings(board: string, { view = '', from = 1, limit = 0 }: PageRequest): Promise<Standings> {
    if (this.moves(this.reads++)) this.#version += 1;
    const length = Math.max(0, Math.min(limit, this.size - from + 1));
    const entries = Array.from({ length }, (_, index) => standing(from - 1 + index, from === 1));
    const head = { board, view, version: this.#version, stale: false, size: this.size };
    return Promise.resolve({ ...head, entries });
  }
}

const top = (reader: PageReader, most: number) => readTop(reader, 'arena', { view: 'all', most });
const players = (length: number) => Array.from({ length }, (_, index) => standing(index, true));

describe('the top of a view', () => {
  it.each([0, 1, 999, 1_000, 1_001, 2_499, 2_500, 2_501, Infinity])(
    'has the first %d players with dense ranks',
    async (most) => {
      const { standings, consistent } = await top(new FakeReader(() => false), most);
      expect(consistent).toBe(true);
      expect(standings).toMatchObject({ size: SIZE, version: 1 });
      expect(standings.entries).toEqual(players(Math.min(most, SIZE)));
    },
  );

  it('is empty for an empty view', async () => {
    const { standings, consistent } = await top(new FakeReader(() => false, 0), Infinity);
    expect([standings.entries, consistent]).toEqual([[], true]);
  });

  it('is read again if the view changes between two pages', async () => {
    const reader = new FakeReader((read) => read === 1);
    const { standings, consistent } = await top(reader, 2_000);
    expect([consistent, reader.reads]).toEqual([true, 4]);
    expect(standings.entries).toEqual(players(2_000));
  });

  it('is inconsistent if the view always changes, and has no dense ranks after the first page', async () => {
    const reader = new FakeReader(() => true);
    const { standings, consistent } = await top(reader, 2_000);
    expect([consistent, reader.reads]).toEqual([false, 10]);
    expect(standings.entries).toEqual(
      Array.from({ length: 2_000 }, (_, index) => standing(index, index < 1_000)),
    );
  });
});

const DAY = 86_400_000;
/** The expiry of `keep: 99999999d`: later than the latest Date. */
const FAR = LATEST_TIME + 1 + 99_999_999 * DAY;

describe('expiryText', () => {
  it('is a time up to the latest event time, and null beyond', () => {
    expect(expiryText(Date.UTC(2026, 10, 20))).toBe('2026-11-20T00:00:00.000Z');
    expect(expiryText(LATEST_TIME)).toBe('9999-12-31T23:59:59.999Z');
    for (const never of [null, LATEST_TIME + 1, FAR]) expect(expiryText(never)).toBeNull();
  });
});
