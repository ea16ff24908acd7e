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
  StoreStatus,
  UnknownBoardError,
  type PageRequest,
  type Standing,
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
  const status = fixture.status();
  return {
    reader: new BoardReader({ redis, prefix: fixture.keys.prefix }),
    status,
    oracle,
    definition,
  };
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
  readonly definition: BoardDefinition;
}

/** Checks that every page of a view equals the oracle's, from a rank and by cursor. */
async function comparePages({ reader, oracle }: Filled, view: string, limit: number) {
  const standings = oracle.standings('arena', view);
  for (let from = 1; from <= standings.length + 1; from += limit)
    for (const dense of [false, true]) {
      const { entries, size } = await reader.standings('arena', { view, from, limit, dense });
      const expected = standings.slice(from - 1, from - 1 + limit);
      expect(size).toBe(standings.length);
      expect(entries).toEqual(dense || from === 1 ? expected : expected.map(withoutDenseRank));
    }
  const walked = await walk(reader, { view, limit });
  expect(walked.map(withoutDenseRank)).toEqual(standings.map(withoutDenseRank));
}

/** All entries of the pages of a request, by cursor. Only the first page has dense ranks. */
async function walk(reader: BoardReader, request: PageRequest): Promise<Standing[]> {
  const first = await reader.standings('arena', request);
  const found = [...first.entries];
  for (let after = first.next; after !== undefined;) {
    const { limit = 0 } = request;
    // The cursor has the view and the range
    const page = await reader.standings('arena', { limit, after });
    expect(page.view).toBe(first.view);
    expect(page.count).toBe(first.count);
    expect(page.entries).not.toEqual([]);
    found.push(...page.entries);
    after = page.next;
  }
  return found;
}

/** Checks that every player's place and neighbours equal the oracle's. */
async function comparePlayers({ reader, oracle, definition }: Filled, view: string) {
  const standings = oracle.standings('arena', view);
  const asked = PLAYER_IDS.map(async (playerId) => {
    const index = standings.findIndex((standing) => standing.playerId === playerId);
    const [above, own, below] = [standings[index - 1], standings[index], standings[index + 1]];
    const found = await reader.player('arena', playerId, { view, dense: true, gaps: true });
    const neighbour = (other: Standing | undefined, isBetter: boolean) =>
      own === undefined || other === undefined
        ? null
        : { ...other, gap: isBetter ? gap(definition, other, own) : gap(definition, own, other) };
    expect(found).toEqual({
      board: 'arena',
      ...{ view, playerId, size: standings.length, stale: false, version: expect.any(Number) },
      standing: own ?? null,
      above: neighbour(above, true),
      below: neighbour(below, false),
    });
  });
  await Promise.all(asked);
}

/** By how much the first of two players is better, per column. */
function gap({ columns }: BoardDefinition, better: Standing, worse: Standing) {
  const minor = (text = '') => BigInt(text.replace('.', ''));
  return Object.fromEntries(
    columns.map(({ name, order, decimals }) => {
      const more = minor(better.columns[name]) - minor(worse.columns[name]);
      const sign = order === 'desc' ? more : -more;
      const digits = String(sign < 0n ? -sign : sign).padStart(decimals + 1, '0');
      const point = digits.length - decimals;
      const text = decimals === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
      return [name, sign < 0n ? `-${text}` : text];
    }),
  );
}

/** Checks the players around each player, and a group of players, against the oracle. */
async function compareGroups({ reader, oracle }: Filled, view: string, some: number) {
  const standings = oracle.standings('arena', view).map(withoutDenseRank);
  const [above, below] = [some, 6 - some];
  for (const { playerId, rank } of standings) {
    const { entries } = await reader.around('arena', playerId, { view, above, below });
    const first = Math.max(0, Math.min(rank - 1 - above, standings.length - 7));
    expect(entries.map(withoutDenseRank)).toEqual(standings.slice(first, first + 7));
  }
  expect((await reader.around('arena', 'nobody', { view })).entries).toEqual([]);
  const ids = [...PLAYER_IDS.slice(some), 'nobody', 'nobody'];
  const group = await reader.players('arena', ids, { view });
  const members = standings.filter(({ playerId }) => ids.includes(playerId));
  expect(group.entries).toEqual(
    members.map((member, index) => ({ ...member, position: index + 1 })),
  );
  const present = new Set(members.map(({ playerId }) => playerId));
  expect(group.missing).toEqual([...new Set(ids)].filter((id) => !present.has(id)));
  await compareSearch({ reader, standings }, view, PLAYER_IDS[some] ?? '');
}

async function compareSearch(
  { reader, standings }: { reader: BoardReader; standings: readonly Pick<Standing, 'playerId'>[] },
  view: string,
  text: string,
) {
  const upper = (id: string) => id.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase());
  const found = new Set<string>();
  let page = await reader.search('arena', upper(text), { view });
  for (;;) {
    for (const entry of page.entries) {
      expect(standings).toContainEqual(withoutDenseRank(entry));
      found.add(entry.playerId);
    }
    if (page.next === undefined) break;
    page = await reader.search('arena', upper(text), { after: page.next });
  }
  const ids = standings.map(({ playerId }) => playerId);
  const meant = ids.filter((id) => upper(id).includes(upper(text)));
  expect([...found].sort()).toEqual(meant.sort());
}

/** Checks ranks of scores, scores of ranks, ranges and histograms against the oracle. */
async function compareScores({ reader, oracle, definition }: Filled, view: string, some: number) {
  const standings = oracle.standings('arena', view).map(withoutDenseRank);
  const size = standings.length;
  for (const { columns, competitionRank } of standings) {
    const tied = standings.filter((other) => other.competitionRank === competitionRank).length;
    expect(await reader.rankOf('arena', columns, { view })).toMatchObject({
      ...{ rank: competitionRank, tied, size },
    });
  }
  for (const percent of [0.01, 12.5 * some, 100]) {
    if (percent === 0) continue;
    const { entries } = await reader.at('arena', { percent }, { view });
    const index = Math.max(0, Math.ceil((percent / 100) * size) - 1);
    expect(entries).toEqual(standings.slice(index, index + 1));
  }
  const rank = some + 1;
  const { entries } = await reader.at('arena', { rank }, { view, dense: true });
  expect(entries.map(withoutDenseRank)).toEqual(standings.slice(some, some + 1));
  await compareRanges({ reader, oracle, definition }, view, some);
}

async function compareRanges({ reader, oracle, definition }: Filled, view: string, some: number) {
  const standings = oracle.standings('arena', view).map(withoutDenseRank);
  const name = definition.columns[0]?.name ?? '';
  const minor = (text: string | undefined) => BigInt((text ?? '0').replace('.', ''));
  const within = (min: string | undefined, max: string | undefined) =>
    standings.filter(({ columns }) => {
      const value = minor(columns[name]);
      return !(min && value < minor(min)) && !(max && value > minor(max));
    });
  const values = standings.map(({ columns }) => columns[name]);
  const [one, other] = [values[some], values[values.length - 1 - some]];
  const isLess = minor(one) < minor(other);
  const [min, max] = isLess ? [one, other] : [other, one];
  for (const scores of [{ min, max }, { min }, { max }, {}]) {
    const expected = within(scores.min, scores.max);
    expect(await reader.count('arena', { view, scores })).toBe(expected.length);
    const limit = some + 1;
    const page = await reader.standings('arena', { view, scores, from: 2, limit });
    const isRange = Object.values(scores).some((bound) => bound !== undefined);
    expect(page.count).toBe(isRange ? expected.length : undefined);
    expect(page.entries.map(withoutDenseRank)).toEqual(expected.slice(1, 1 + limit));
    const walked = await walk(reader, { view, scores, limit });
    expect(walked.map(withoutDenseRank)).toEqual(expected);
    const { buckets } = await reader.histogram('arena', { view, scores, buckets: limit });
    expect(buckets.length).toBeLessThanOrEqual(limit);
    for (const bucket of buckets) expect(bucket.count).toBe(within(bucket.min, bucket.max).length);
    expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(expected.length);
  }
}

/** The standing with an undefined dense rank, which equals a missing field for toEqual. */
function withoutDenseRank(standing: Standing) {
  return { ...standing, denseRank: undefined };
}

/** Compares the list of views with the oracle's, and some of the views in full. */
async function compareViews(filled: Filled, limit: number) {
  const { reader, oracle } = filled;
  const made = oracle.memory('arena').views;
  const views = await reader.views('arena');
  const expected = oracle.views('arena').map((view) => ({
    view,
    size: oracle.standings('arena', view).length,
    version: expect.any(Number),
    expiresAt: made.get(view)?.expiresAt,
  }));
  // An event whose sum overflows makes its views, but no player.
  expect(views).toEqual(expected.filter(({ size }) => size > 0));
  for (const { view, version } of views.slice(0, MOST_READ)) {
    await comparePages(filled, view, limit);
    await comparePlayers(filled, view);
    await compareGroups(filled, view, limit - 1);
    await compareScores(filled, view, limit - 1);
    const page = await reader.standings('arena', { view, limit: 0 });
    expect(page.version).toBe(version);
  }
}

/** Checks that an export has all players of all views, or of some. */
async function compareExport({ reader, oracle }: Filled) {
  const views = oracle.views('arena');
  for (const names of [undefined, views.slice(1).reverse()]) {
    const exported: object[] = [];
    for await (const { view, entries } of reader.export('arena', names))
      exported.push(...entries.map((entry) => ({ view, ...withoutDenseRank(entry) })));
    const expected = (names ?? views).flatMap((view) => {
      const rows = oracle.standings('arena', view).map(withoutDenseRank);
      return rows.map((row) => ({ view, ...row }));
    });
    expect(exported).toEqual(expected);
  }
}

/** Checks that readers refuse views that have expired, although none is swept yet. */
async function compareExpired({ reader, oracle }: Filled) {
  const existing = oracle.views('arena');
  const gone = [...oracle.memory('arena').views.keys()].filter((view) => !existing.includes(view));
  for (const view of gone.slice(0, MOST_READ)) {
    const page = reader.standings('arena', { view, limit: 1 });
    await expect(page).rejects.toThrow(ExpiredViewError);
    await expect(reader.player('arena', 'a', { view })).rejects.toThrow(ExpiredViewError);
  }
}

/** Compares the overview of the board with the oracle. */
async function compareFacts(
  { status, oracle }: Awaited<ReturnType<typeof fill>>,
  { maxViews, windows }: BoardDefinition,
) {
  const { clock, expired, duplicates } = oracle.memory('arena');
  const keeps = windows.some((window) => 'keepMs' in window);
  const views = oracle.views('arena').length;
  expect(await status.overviews()).toEqual([
    { board: 'arena', views, maxViews, clock: keeps ? clock : null, expired, duplicates },
  ]);
}

describe('reading a board', () => {
  it.each(knownAndNewRuns(25))(
    'gives the views, pages, places and overview of the oracle (%s)',
    async (parameters) => {
      const limits = fc.integer({ min: 1, max: 6 });
      await fc.assert(
        fc.asyncProperty(boardArbitrary, limits, async ([definition, events], limit) => {
          const filled = await fill(definition, events);
          await compareViews(filled, limit);
          await compareExport(filled);
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
    for (const from of [2, 99])
      for (const limit of [10, 0])
        expect(await reader.standings('arena', { from, limit })).toEqual(all);
    expect((await reader.player('arena', 'b')).standing).toBeNull();
    expect(await reader.standings('arena', { view: 'all x=1', limit: 9 })).toEqual(empty);
    expect(await reader.around('arena', 'a', { where: { x: '1' } })).toEqual(empty);
  });

  it.each([
    ['week:2026-W47', NoSuchViewError],
    ['all x=1', NoSuchViewError],
    ['all  x=1', MalformedViewError],
  ])('refuses the view %j, which the board can not have', async (view, type) => {
    const { reader } = await fill(arena, [scored('a', [1])]);
    await expect(reader.player('arena', 'a', { view })).rejects.toThrow(type);
    await expect(reader.standings('arena', { view, limit: 1 })).rejects.toThrow(type);
  });

  it('refuses a board that is not live, and names the live boards', async () => {
    const { reader } = await fill(arena, [scored('a', [1])]);
    const facts = { constructor: UnknownBoardError, board: 'areena', known: ['arena'] };
    for (const reading of [
      () => reader.views('areena'),
      () => reader.player('areena', 'a'),
      () => reader.standings('areena', { view: 'all', limit: 1 }),
    ])
      await expect(reading()).rejects.toMatchObject(facts);
  });

  it('gives the live boards by name', async () => {
    const keys = newKeys();
    const store = new BoardStore(redis, keys, { shards: 3 });
    await store.claim();
    const names = ['zeta', 'Beta', 'alpha', '7', 'beta'];
    await store.registerBoards(names.map((board) => ({ ...arena, board })));
    const live = await new BoardReader({ redis, prefix: keys.prefix }).boards();
    expect(live.map(({ board }) => board)).toEqual(['7', 'Beta', 'alpha', 'beta', 'zeta']);
    expect(new Set(live.map(({ generation }) => generation)).size).toBe(5);
    expect(live[0]!.definition).toEqual({ ...arena, board: '7' });
  });
});

describe('the number of shards', () => {
  it('stays known to a reader while Redis lacks it', async () => {
    const keys = newKeys();
    const store = new BoardStore(redis, keys, { shards: 5 });
    await store.claim();
    const names = ['b1', 'b2', 'b3', 'b4', 'b5', 'b6', 'b7'];
    await store.registerBoards(names.map((board) => ({ ...arena, board })));
    const reader = new BoardReader({ redis, prefix: keys.prefix });
    await reader.board('b1');

    await redis.del(keys.shards());
    for (const board of names) expect((await reader.board(board)).board).toBe(board);
    expect(await reader.boards()).toHaveLength(names.length);
    for (const board of names)
      for await (const page of reader.export(board)) expect(page.size).toBe(0);
  });
});

describe('the applied offsets', () => {
  it('are, for each partition, the first offset that some shard has not applied', async () => {
    const keys = newKeys();
    const store = new BoardStore(redis, keys, { shards: 2 });
    await store.claim();
    const status = new StoreStatus(redis, keys);
    expect(await status.nextOffsets()).toEqual(new Map());
    const resync = new ContinuityStore(redis, keys, { shards: 2 });
    const token = async (shard: number) => ({
      shard,
      continuity: await comparedToken(resync, shard),
      version: (await store.boards()).versions[shard]!,
    });
    const idle = { published: 0, believed: -1, from: 0, entries: [], boards: new Map() };
    const [first, second] = [await token(0), await token(1)];
    await store.apply({ ...idle, ...first, partition: 3, through: 9 });
    expect(await status.nextOffsets()).toEqual(new Map([[3, 0]]));
    await store.apply({ ...idle, ...second, partition: 3, through: 4 });
    await store.apply({ ...idle, ...second, partition: 0, through: 0 });
    expect(await status.nextOffsets()).toEqual(new Map([[3, 5], [0, 0]])); // prettier-ignore
  });
});
