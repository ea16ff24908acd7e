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
  return new BoardReader({ redis, prefix: fixture.keys.prefix });
}

/** The ranks of a player as a text: `rank competition dense, ahead of, percentile`. */
function short({ rank, competitionRank, denseRank, aheadOf, percentile }: Standing): string {
  return `${rank} ${competitionRank} ${denseRank ?? '-'}, ${aheadOf}, ${percentile}`;
}

/**
 * Lengths of ties. Many are near two limits in ties.lua: how many players a step reads (64), and
 * which ties it jumps over (16).
 */
const tieLengths = fc.array(fc.constantFrom(1, 1, 1, 2, 15, 16, 17, 40, 63, 64, 65, 130), {
  minLength: 1,
  maxLength: 12,
});

/**
 * Players in rank order, in ties of these lengths. Of the ties, four in a row differ only in the
 * last column.
 */
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

describe('the ranks of a view', () => {
  it('never have a percentile of 100', async () => {
    const points = Array.from({ length: 20_001 }, (_, index) => scored(`p${index}`, [-index]));
    const reader = await readerOf(arena, points);
    const { standing } = await reader.player('arena', 'p0');
    expect(standing).toMatchObject({ aheadOf: 20_000, percentile: 99.99 });
  });

  it('include the dense rank down to 10,000 different players, and further down if ties are long', async () => {
    const dense = async (reader: BoardReader, playerId: string) => {
      const { standing } = await reader.player('arena', playerId, { dense: true });
      return [standing?.rank, standing?.denseRank];
    };
    const different = Array.from({ length: 12_000 }, (_, index) => scored(`p${index}`, [-index]));
    const alone = await readerOf(arena, different);
    expect(await dense(alone, 'p9999')).toEqual([10_000, 10_000]);
    expect(await dense(alone, 'p11999')).toEqual([12_000, undefined]);
    const page = { from: 11_001, limit: 1, dense: true };
    const [entry] = (await alone.standings('arena', page)).entries;
    expect(entry).toMatchObject({ rank: 11_001, competitionRank: 11_001 });
    expect(entry).not.toHaveProperty('denseRank');
    const tied = different.map((event, index) => ({ ...event, values: [index >> 12] }));
    expect(await dense(await readerOf(arena, tied), 'p9999')).toEqual([12_000, 3]);
  });

  it('share that bound if one request asks for several dense ranks', async () => {
    const players = Array.from({ length: 300 }, (_, index) => scored(`p${index}`, [-index]));
    const reader = await readerOf(arena, players);
    const dense = async (playerId: string, count: number) => {
      const requests = Array.from({ length: count }, () => ({ board: 'arena', dense: true }));
      const found = await reader.playerOn(playerId, requests);
      return new Set(found.map(({ standing }) => standing?.denseRank));
    };
    expect(await dense('p99', 100)).toEqual(new Set([100]));
    expect(await dense('p299', 100)).toEqual(new Set([undefined]));
    expect(await dense('p299', 10)).toEqual(new Set([300]));
  });

  it('include the dense rank at the top of the view; elsewhere only on request, as its cost grows', async () => {
    const reader = await readerOf(arena, [scored('ada', [9]), scored('bob', [5])]);
    const [, second] = (await reader.standings('arena')).entries;
    const scores = { max: 5 };
    const [unasked] = (await reader.standings('arena', { scores })).entries;
    const [asked] = (await reader.standings('arena', { scores, dense: true })).entries;
    expect([second, unasked, asked].map((standing) => standing && short(standing))).toEqual([
      '2 2 2, 0, 0',
      '2 2 -, 0, 0',
      '2 2 2, 0, 0',
    ]);
  });

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
            const page = { from: offset + 1, limit: 3, dense: true };
            const { entries } = await reader.standings('arena', page);
            expect(entries.map(short)).toEqual(ranks.slice(offset, offset + 3));
            const { playerId = '' } = entries[0] ?? {};
            const { standing } = await reader.player('arena', playerId, { dense: true });
            expect(standing && short(standing)).toBe(ranks[offset]);
          }
        }),
        runs(50),
      );
    },
    PROPERTY_TIMEOUT,
  );
});
