import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  MalformedViewError,
  NoSuchViewError,
  type BoardDefinition,
  type ResolvedEvent,
} from '#board';
import {
  BoardReader,
  BoardStore,
  ContinuityStore,
  ExpiredViewError,
  UnknownBoardError,
} from '#board-store';
import { knownAndNewRuns, PLAYER_IDS, PROPERTY_TIMEOUT } from '../model/arbitrary.js';
import { definitionArbitrary } from '../model/definitions.js';
import { eventArbitrary } from '../model/inputs.js';
import { Oracle } from '../model/oracle.js';
import { arena, comparedToken, scored, StoreFixture } from './fixture.js';
import { openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

/** A reader of a board with these events, and an oracle that has applied them too. */
async function fill(definition: BoardDefinition, events: readonly ResolvedEvent[]) {
  const fixture = await new StoreFixture(redis, newKeys()).register(definition);
  if (events.length > 0) await fixture.apply(events);
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

/** At most this many views of a board are read in full. */
const MOST_READ = 5;

interface Filled {
  readonly reader: BoardReader;
  readonly oracle: Oracle;
}

/** Checks that every page of a view equals the oracle's. */
async function comparePages({ reader, oracle }: Filled, view: string, limit: number) {
  const standings = oracle.standings('arena', view);
  for (let offset = 0; offset <= standings.length; offset += limit)
    for (const dense of [false, true]) {
      const { entries, size } = await reader.standings('arena', view, { offset, limit, dense });
      const expected = standings.slice(offset, offset + limit);
      expect(size).toBe(standings.length);
      expect(entries).toEqual(dense || offset === 0 ? expected : expected.map(withoutDenseRank));
    }
}

/** Checks that every player's place equals the oracle's. */
async function comparePlaces({ reader, oracle }: Filled, view: string) {
  const standings = oracle.standings('arena', view);
  const compare = async (playerId: string) => {
    const expected = standings.filter((standing) => standing.playerId === playerId);
    const ranked = await reader.rank('arena', view, playerId);
    expect(ranked).toMatchObject({ board: 'arena', view, size: standings.length });
    expect(ranked.entries).toEqual(expected.map(withoutDenseRank));
    const dense = await reader.rank('arena', view, playerId, { dense: true });
    expect(dense.entries).toEqual(expected);
  };
  await Promise.all(PLAYER_IDS.map(compare));
}

/** The standing with an undefined dense rank, which equals a missing field for toEqual. */
function withoutDenseRank<T>(standing: T) {
  return { ...standing, denseRank: undefined };
}

/** Compares the list of views with the oracle's, and some of the views in full. */
async function compareViews({ reader, oracle }: Filled, limit: number) {
  const made = oracle.memory('arena').views;
  const views = await reader.views('arena');
  expect(views).toEqual(
    oracle.views('arena').map((view) => ({
      view,
      size: oracle.standings('arena', view).length,
      version: expect.any(Number),
      expiresAt: made.get(view)?.expiresAt,
    })),
  );
  for (const { view, version } of views.slice(0, MOST_READ)) {
    await comparePages({ reader, oracle }, view, limit);
    await comparePlaces({ reader, oracle }, view);
    const page = await reader.standings('arena', view, { offset: 0, limit: 0 });
    expect(page.version).toBe(version);
  }
}

/** Checks that readers refuse views that have expired, although none is swept yet. */
async function compareExpired({ reader, oracle }: Filled) {
  const existing = oracle.views('arena');
  const gone = [...oracle.memory('arena').views.keys()].filter((view) => !existing.includes(view));
  for (const view of gone.slice(0, MOST_READ)) {
    const page = reader.standings('arena', view, { offset: 0, limit: 1 });
    await expect(page).rejects.toThrow(ExpiredViewError);
    await expect(reader.rank('arena', view, 'a')).rejects.toThrow(ExpiredViewError);
  }
}

/** Compares the overview of the board with the oracle. */
async function compareFacts({ reader, oracle }: Filled, { maxViews, windows }: BoardDefinition) {
  const { clock, expired, duplicates } = oracle.memory('arena');
  const keeps = windows.some((window) => 'keepMs' in window);
  const views = oracle.views('arena').length;
  expect(await reader.overviews()).toEqual([
    { board: 'arena', views, maxViews, clock: keeps ? clock : null, expired, duplicates },
  ]);
}

describe('reading a board', () => {
  it.each(knownAndNewRuns(40))(
    'gives the views, pages, places and overview of the oracle (%s)',
    async (parameters) => {
      const limits = fc.integer({ min: 1, max: 6 });
      await fc.assert(
        fc.asyncProperty(boardArbitrary, limits, async ([definition, events], limit) => {
          const filled = await fill(definition, events);
          await compareViews(filled, limit);
          await compareExpired(filled);
          await compareFacts(filled, definition);
        }),
        parameters,
      );
    },
    PROPERTY_TIMEOUT,
  );

  it('gives an empty page past the end and for a view without players, and no place for a player who is not in the view', async () => {
    const { reader } = await fill({ ...arena, dimensions: [[], ['x']] }, [scored('a', [1])]);
    const head = { board: 'arena', version: expect.any(Number), stale: false, entries: [] };
    const [all, empty] = [
      { ...head, view: 'all', size: 1 },
      { ...head, view: 'all x=1', size: 0, version: 0 },
    ];
    for (const offset of [1, 99])
      for (const limit of [10, 0])
        expect(await reader.standings('arena', 'all', { offset, limit })).toEqual(all);
    expect(await reader.rank('arena', 'all', 'b')).toEqual(all);
    expect(await reader.standings('arena', 'all x=1', { offset: 0, limit: 9 })).toEqual(empty);
    expect(await reader.rank('arena', 'all x=1', 'a', { dense: true })).toEqual(empty);
  });

  it.each([
    ['week:2026-W47', NoSuchViewError],
    ['all x=1', NoSuchViewError],
    ['all  x=1', MalformedViewError],
  ])('refuses the view %j, which the board can not have', async (view, type) => {
    const { reader } = await fill(arena, [scored('a', [1])]);
    await expect(reader.rank('arena', view, 'a')).rejects.toThrow(type);
    await expect(reader.standings('arena', view, { offset: 0, limit: 1 })).rejects.toThrow(type);
  });

  it('refuses a board that is not live, and names the live boards', async () => {
    const { reader } = await fill(arena, [scored('a', [1])]);
    const facts = { constructor: UnknownBoardError, board: 'areena', known: ['arena'] };
    for (const reading of [
      () => reader.views('areena'),
      () => reader.rank('areena', 'all', 'a'),
      () => reader.standings('areena', 'all', { offset: 0, limit: 1 }),
    ])
      await expect(reading()).rejects.toMatchObject(facts);
  });

  it('gives the live boards by name', async () => {
    const keys = newKeys();
    const store = new BoardStore(redis, keys, { shards: 3 });
    await store.claim();
    const names = ['zeta', 'Beta', 'alpha', '7', 'beta'];
    await store.registerBoards(names.map((board) => ({ ...arena, board })));
    const live = await new BoardReader(redis, keys).liveBoards();
    expect(live.map(({ board }) => board)).toEqual(['7', 'Beta', 'alpha', 'beta', 'zeta']);
    expect(new Set(live.map(({ generation }) => generation)).size).toBe(5);
    expect(live[0]!.definition).toEqual({ ...arena, board: '7' });
  });
});

describe('the applied offsets', () => {
  it('are, for each partition, the first offset that some shard has not applied', async () => {
    const keys = newKeys();
    const store = new BoardStore(redis, keys, { shards: 2 });
    await store.claim();
    const reader = new BoardReader(redis, keys);
    expect(await reader.appliedOffsets()).toEqual(new Map());
    const resync = new ContinuityStore(redis, keys, { shards: 2 });
    const token = async (shard: number) => ({
      shard,
      continuity: await comparedToken(resync, shard),
      version: (await store.boards()).versions[shard]!,
    });
    const idle = { published: 0, believed: -1, from: 0, entries: [], boards: new Map() };
    const [first, second] = [await token(0), await token(1)];
    await store.apply({ ...idle, ...first, partition: 3, through: 9 });
    expect(await reader.appliedOffsets()).toEqual(new Map([[3, 0]]));
    await store.apply({ ...idle, ...second, partition: 3, through: 4 });
    await store.apply({ ...idle, ...second, partition: 0, through: 0 });
    expect(await reader.appliedOffsets()).toEqual(new Map([[3, 5], [0, 0]])); // prettier-ignore
  });
});
