import { describe, expect, it } from '@jest/globals';
import type { BoardReader, PageRequest, Standing, Standings } from '#board-store';
import { readTop } from './standings.js';

type PageReader = Pick<BoardReader, 'standings'>;

const SIZE = 2_500;

/**
 * Players in ties of seven, so that pages end within a tie. Only pages from the top have dense
 * ranks, as on a real board.
 */
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

/** A view whose version changes before read n (from 0) if `moves(n)`. */
class FakeReader implements PageReader {
  #reads = 0;
  #version = 1;

  constructor(
    private readonly moves: (read: number) => boolean,
    private readonly size = SIZE,
  ) {}

  /** A cursor is the number of players before the page. */
  standings(board: string, { after = '0', limit = 0 }: PageRequest): Promise<Standings> {
    if (this.moves(this.#reads++)) this.#version += 1;
    const first = Number(after);
    const length = Math.max(0, Math.min(limit, this.size - first));
    const entries = Array.from({ length }, (_, index) => standing(first + index, first === 0));
    const end = first + length;
    const next = end < this.size ? { next: String(end) } : {};
    const head = { board, view: 'all', version: this.#version, stale: false, size: this.size };
    return Promise.resolve({ ...head, entries, ...next });
  }
}

const top = (reader: PageReader, most: number) => readTop(reader, 'arena', { view: 'all', most });
const players = (length: number) => Array.from({ length }, (_, index) => standing(index, true));

describe('the top of a view', () => {
  it.each([0, 1, 999, 1_000, 1_001, 2_499, 2_500, 2_501, Infinity])(
    'has the first %d players with dense ranks',
    async (most) => {
      const found = await top(new FakeReader(() => false), most);
      expect(found).toMatchObject({ size: SIZE, version: 1, isSame: true });
      expect(found.entries).toEqual(players(Math.min(most, SIZE)));
    },
  );

  it('is empty for an empty view', async () => {
    const { entries, isSame } = await top(new FakeReader(() => false, 0), Infinity);
    expect([entries, isSame]).toEqual([[], true]);
  });

  it('has no dense ranks after the first page if the view changes', async () => {
    const { entries, isSame } = await top(new FakeReader((read) => read === 1), 2_000);
    expect(isSame).toBe(false);
    expect(entries).toEqual(
      Array.from({ length: 2_000 }, (_, index) => standing(index, index < 1_000)),
    );
  });
});
