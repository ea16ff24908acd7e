import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { BoardDefinition, ResolvedEvent } from '#board';
import { BoardReader, type Standing } from '#board-store';
import { PROPERTY_TIMEOUT, runs } from '../model/arbitrary.js';
import { arena, scored, StoreFixture, T0 } from './fixture.js';
import { openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

async function readerOf(definition: BoardDefinition, events: readonly ResolvedEvent[]) {
  const fixture = await new StoreFixture(redis, newKeys()).register(definition);
  await fixture.apply(events);
  return new BoardReader(redis, fixture.keys);
}

/** `rank competition dense, ahead of, percentile` of every player in order. */
async function ranksOf(points: readonly number[]): Promise<string[]> {
  const events = points.map((value, index) => scored(`p${index}`, [value]));
  const reader = await readerOf(arena, events);
  const { entries } = await reader.standings('arena', 'all', { offset: 0, limit: 100 });
  for (const entry of entries) {
    const alone = await reader.rank('arena', 'all', entry.playerId, { dense: true });
    expect(alone.entries).toEqual([entry]);
  }
  return entries.map(short);
}

function short({ rank, competitionRank, denseRank, aheadOf, percentile }: Standing): string {
  return `${rank} ${competitionRank} ${denseRank ?? '-'}, ${aheadOf}, ${percentile}`;
}

describe('the ranks of a view', () => {
  it.each([
    ['one player', [5], ['1 1 1, 0, 0']],
    ['two', [5, 4], ['1 1 1, 1, 50', '2 2 2, 0, 0']],
    ['all equal', [5, 5, 5], ['1 1 1, 0, 0', '2 1 1, 0, 0', '3 1 1, 0, 0']],
    ['a tie at the top', [5, 5, 4], ['1 1 1, 1, 33.33', '2 1 1, 1, 33.33', '3 3 2, 0, 0']],
    [
      'a tie in the middle',
      [5, 4, 4, 1],
      ['1 1 1, 3, 75', '2 2 2, 1, 25', '3 2 2, 1, 25', '4 4 3, 0, 0'],
    ],
    ['a tie at the end', [5, 4, 4], ['1 1 1, 2, 66.66', '2 2 2, 0, 0', '3 2 2, 0, 0']],
  ])('are exact: %s', async (_, points, ranks) => {
    expect(await ranksOf(points)).toEqual(ranks);
  });

  it('hold for players with equal columns, whatever their reach time', async () => {
    const reader = await readerOf(arena, [
      scored('late', [5], { occurredAt: T0 + 1 }),
      scored('early', [5]),
      scored('last', [1]),
    ]);
    const { entries } = await reader.standings('arena', 'all', { offset: 0, limit: 3 });
    expect(entries.map(({ playerId }) => playerId)).toEqual(['early', 'late', 'last']);
    expect(entries.map(short)).toEqual(['1 1 1, 1, 33.33', '2 1 1, 1, 33.33', '3 3 2, 0, 0']);
  });

  it('never come to 100 percent', async () => {
    const points = Array.from({ length: 20_001 }, (_, index) => scored(`p${index}`, [-index]));
    const reader = await readerOf(arena, points);
    const { entries } = await reader.rank('arena', 'all', 'p0');
    expect(entries).toMatchObject([{ aheadOf: 20_000, percentile: 99.99 }]);
  });

  it('are dense where that is asked for, or comes for nothing', async () => {
    const reader = await readerOf(arena, [scored('a', [2]), scored('b', [1])]);
    const dense = async (offset: number, options = {}) => {
      const page = { offset, limit: 1, ...options };
      const { entries } = await reader.standings('arena', 'all', page);
      return entries.map(({ denseRank }) => denseRank);
    };
    expect(await dense(0)).toEqual([1]);
    expect(await dense(1)).toEqual([undefined]);
    expect(await dense(1, { dense: true })).toEqual([2]);
    const [place] = (await reader.rank('arena', 'all', 'a')).entries;
    expect(place).not.toHaveProperty('denseRank');
  });

  it('are dense down to 10,000 different players, and further over long ties', async () => {
    const dense = async (reader: BoardReader, playerId: string) => {
      const { entries } = await reader.rank('arena', 'all', playerId, { dense: true });
      return entries.map(({ rank, denseRank }) => [rank, denseRank]);
    };
    const different = Array.from({ length: 12_000 }, (_, index) => scored(`p${index}`, [-index]));
    const alone = await readerOf(arena, different);
    expect(await dense(alone, 'p9999')).toEqual([[10_000, 10_000]]);
    expect(await dense(alone, 'p11999')).toEqual([[12_000, undefined]]);
    const page = { offset: 11_000, limit: 1, dense: true };
    const [entry] = (await alone.standings('arena', 'all', page)).entries;
    expect(entry).toMatchObject({ rank: 11_001, competitionRank: 11_001 });
    expect(entry).not.toHaveProperty('denseRank');
    const tied = different.map((event, index) => ({ ...event, values: [index >> 12] }));
    expect(await dense(await readerOf(arena, tied), 'p9999')).toEqual([[12_000, 3]]);
  });
});

/** Ties of lengths around those at which the script goes another way: the steps that it reads in, the ties that it jumps over. */
const tieLengths = fc.array(fc.constantFrom(1, 1, 1, 2, 15, 16, 17, 40, 63, 64, 65, 130), {
  minLength: 1,
  maxLength: 12,
});

/** A crowd of players in their order; each tie has columns of its own, and shares all but the last with some others. */
function crowdOf(lengths: readonly number[], columns: readonly string[]) {
  const events: ResolvedEvent[] = [];
  const ranks: string[] = [];
  const size = lengths.reduce((sum, length) => sum + length, 0);
  for (const [tie, length] of lengths.entries()) {
    const points = columns.map((_, index) => 3 - (index === columns.length - 1 ? tie : tie >> 2));
    const [from, aheadOf] = [events.length, size - events.length - length];
    const percentile = Number((10_000n * BigInt(aheadOf)) / BigInt(size)) / 100;
    for (let index = 0; index < length; index++) {
      ranks.push(`${events.length + 1} ${from + 1} ${tie + 1}, ${aheadOf}, ${percentile}`);
      events.push(scored(`p${events.length}`, points, { occurredAt: T0 + index }));
    }
  }
  return { events, ranks };
}

describe('the ranks of many players', () => {
  it(
    'are exact at both ends of every tie',
    async () => {
      const boards = fc.record({
        lengths: tieLengths,
        columns: fc.constantFrom(['a'], ['a', 'b'], ['a', 'b', 'c']),
        ties: fc.constantFrom('earliest' as const, 'none' as const),
      });
      await fc.assert(
        fc.asyncProperty(boards, async ({ lengths, columns, ties }) => {
          const { events, ranks } = crowdOf(lengths, columns);
          const named = columns.map((name) => ({ ...arena.columns[0]!, name }));
          const reader = await readerOf({ ...arena, columns: named, ties }, events);
          const edges = ranks.flatMap((rank, index) =>
            rank.split(' ')[1] === String(index + 1) ? [index - 1, index] : [],
          );
          for (const offset of [...edges.slice(1), ranks.length - 1]) {
            const page = { offset, limit: 3, dense: true };
            const { entries } = await reader.standings('arena', 'all', page);
            expect(entries.map(short)).toEqual(ranks.slice(offset, offset + 3));
            const { playerId = '' } = entries[0] ?? {};
            const place = await reader.rank('arena', 'all', playerId, { dense: true });
            expect(place.entries.map(short)).toEqual([ranks[offset]]);
          }
        }),
        runs(50),
      );
    },
    PROPERTY_TIMEOUT,
  );
});
