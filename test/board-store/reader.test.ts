import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { BoardDefinition, ResolvedEvent } from '#board';
import { BoardReader, BoardStore, UnknownBoardError, UnknownViewError } from '#board-store';
import { definitionArbitrary, eventArbitrary, PLAYER_IDS, runs } from '../model/arbitrary.js';
import { Oracle } from '../model/oracle.js';
import { arena, scored, StoreFixture, T0 } from './fixture.js';
import { openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

/** A board after these events, and the oracle's opinion of it. */
async function fill(definition: BoardDefinition, events: readonly ResolvedEvent[]) {
  const fixture = await new StoreFixture(redis, newKeys()).register(definition);
  await fixture.apply(events);
  const oracle = new Oracle([definition]);
  for (const event of events) oracle.apply(definition.board, event);
  return { reader: new BoardReader(redis, fixture.keys), oracle };
}

const boardArbitrary = definitionArbitrary('arena').chain((definition) =>
  fc.tuple(
    fc.constant(definition),
    fc.array(eventArbitrary(definition, PLAYER_IDS), { minLength: 1, maxLength: 40, size: 'max' }),
  ),
);

describe('reading a board', () => {
  it('gives the pages, places and sizes of the oracle', async () => {
    await fc.assert(
      fc.asyncProperty(
        boardArbitrary,
        fc.integer({ min: 1, max: 6 }),
        async ([definition, events], limit) => {
          const { reader, oracle } = await fill(definition, events);
          const views = await reader.views('arena');
          expect(views.map(({ view }) => view)).toEqual(oracle.views('arena'));
          for (const { view, size, version } of views) {
            const standings = oracle.standings('arena', view);
            expect(size).toBe(standings.length);
            for (let offset = 0; offset <= size; offset += limit)
              expect(await reader.standings('arena', view, { offset, limit })).toEqual({
                board: 'arena',
                view,
                version,
                size,
                entries: standings.slice(offset, offset + limit),
              });
            for (const playerId of PLAYER_IDS)
              expect(await reader.rank('arena', view, playerId)).toEqual(
                standings.find((standing) => standing.playerId === playerId),
              );
          }
        },
      ),
      runs(60),
    );
  }, 300_000);

  it('gives an empty page past the end, and for a limit of 0', async () => {
    const { reader } = await fill(arena, [scored('a', [1])]);
    for (const page of [
      { offset: 1, limit: 10 },
      { offset: 99, limit: 10 },
      { offset: 0, limit: 0 },
      { offset: 1, limit: 0 },
    ])
      expect(await reader.standings('arena', 'all', page)).toMatchObject({ size: 1, entries: [] });
  });

  it('tells a player who is not in a view from a view that is not there', async () => {
    const { reader } = await fill(arena, [scored('a', [1])]);
    expect(await reader.rank('arena', 'all', 'b')).toBeUndefined();
    const unknown = expect.objectContaining({
      constructor: UnknownViewError,
      board: 'arena',
      view: 'all x=1',
      known: ['all'],
    });
    await expect(reader.rank('arena', 'all x=1', 'a')).rejects.toThrow(unknown);
    await expect(reader.standings('arena', 'all x=1', { offset: 0, limit: 1 })).rejects.toThrow(
      unknown,
    );
  });

  it('refuses a board that is not live, and names those that are', async () => {
    const { reader } = await fill(arena, [scored('a', [1])]);
    const unknown = expect.objectContaining({
      constructor: UnknownBoardError,
      board: 'areena',
      known: ['arena'],
    });
    await expect(reader.views('areena')).rejects.toThrow(unknown);
    await expect(reader.rank('areena', 'all', 'a')).rejects.toThrow(unknown);
    await expect(reader.standings('areena', 'all', { offset: 0, limit: 1 })).rejects.toThrow(
      unknown,
    );
  });

  it('gives the live boards by name', async () => {
    const keys = newKeys();
    const store = new BoardStore(redis, keys, { shards: 3 });
    await store.claimShards();
    const names = ['zeta', 'Beta', 'alpha', '7', 'beta'];
    for (const board of names) await store.registerBoard({ ...arena, board });
    const live = await new BoardReader(redis, keys).liveBoards();
    expect(live.map(({ board }) => board)).toEqual(['7', 'Beta', 'alpha', 'beta', 'zeta']);
    expect(new Set(live.map(({ generation }) => generation)).size).toBe(5);
    expect(live[0]!.definition).toEqual({ ...arena, board: '7' });
  });
});

describe('the applied offsets', () => {
  it('are for each partition the first that some shard has not applied', async () => {
    const keys = newKeys();
    const store = new BoardStore(redis, keys, { shards: 2 });
    await store.claimShards();
    const reader = new BoardReader(redis, keys);
    expect(await reader.appliedOffsets()).toEqual(new Map());
    const idle = { published: 0, believed: -1, entries: [], boards: new Map() };
    await store.apply({ ...idle, shard: 0, partition: 3, through: 9 });
    expect(await reader.appliedOffsets()).toEqual(new Map([[3, 0]]));
    await store.apply({ ...idle, shard: 1, partition: 3, through: 4 });
    await store.apply({ ...idle, shard: 1, partition: 0, through: 0 });
    expect(await reader.appliedOffsets()).toEqual(new Map([[3, 5], [0, 0]])); // prettier-ignore
  });
});

describe('the reach time', () => {
  it('is the latest time of the columns, zero deltas aside', async () => {
    const columns = ['points', 'wins'].map((name) => ({ ...arena.columns[0]!, name }));
    const { reader } = await fill({ ...arena, columns }, [
      scored('a', [3, 1], { occurredAt: T0 + 5 }),
      scored('a', [0, 1], { occurredAt: T0 + 2 }),
      scored('a', [0, 0], { occurredAt: T0 + 9 }),
    ]);
    expect(await reader.rank('arena', 'all', 'a')).toEqual({
      playerId: 'a',
      rank: 1,
      competitionRank: 1,
      columns: { points: '3', wins: '2' },
      reachedAt: T0 + 5,
    });
  });
});
