import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MalformedViewError, NoSuchViewError, type BoardDefinition } from '#board';
import {
  BoardReader,
  ExpiredViewError,
  ListingInterruptedError,
  type Standing,
  type Standings,
} from '#board-store';
import { arena, lasting, scored, StoreFixture, T0 } from './fixture.js';
import { GenerationFixture } from './generation-fixture.js';
import { interceptedClient, lateClient, once, openTestRedis } from './test-redis.js';

const testRedis = openTestRedis();
const { redis, newKeys, close } = testRedis;
let board: StoreFixture;
beforeAll(async () => {
  board = await filled();
});
afterAll(close);

const WEEK = 7 * 86_400_000;
const definition: BoardDefinition = {
  ...arena,
  windows: [{ kind: 'all' }, { kind: 'week', keepMs: WEEK }],
  dimensions: [[], ['region'], ['region', 'mode']],
};
const KEPT_UNTIL = T0 + 2 * WEEK;
const OLD = { view: 'week:2026-W46', expiresAt: KEPT_UNTIL - WEEK, published: true };
const NEW = { view: 'week:2026-W47', expiresAt: KEPT_UNTIL, published: true };
const LARGE = 'all region=eu';
const SMALL = Array.from({ length: 30 }, (_, n) => `all region=eu mode=m${n + 10}`);
const PLAYERS = 2_500;

/**
 * A board with a view of 2,500 players in ties, which is exported first, and views of three
 * players.
 */
async function filled(): Promise<StoreFixture> {
  const fixture = await new StoreFixture(redis, newKeys()).register(definition);
  const many = Array.from({ length: PLAYERS }, (_, n) =>
    scored(`p-${n}`, [Math.floor(n / 7)], { views: lasting(LARGE) }),
  );
  const few = ['ada', 'bob', 'cyd'].map((player, points) =>
    scored(player, [points], { views: [...lasting('all', ...SMALL), OLD, NEW] }),
  );
  for (let from = 0; from < PLAYERS; from += 500)
    await fixture.apply(many.slice(from, from + 500), { from });
  await fixture.apply(few, { from: PLAYERS });
  return fixture;
}

async function pagesOf(reader: BoardReader, views?: readonly string[]): Promise<Standings[]> {
  const pages: Standings[] = [];
  for await (const page of reader.export('arena', views)) pages.push(page);
  return pages;
}

/** Moves the event clock of the board. */
async function moveClock({ keys, live }: StoreFixture, clock: number): Promise<void> {
  await redis.hset(keys.facts(0, live.generation), 'clock', clock);
}

/** A reader that does something before the first page that it reads after `pages` others. */
const later = ({ keys }: StoreFixture, pages: number, work: () => Promise<void>) =>
  new BoardReader({
    redis: lateClient(redis, /^ranklogPageBuffer$/, once(work, pages + 1)),
    prefix: keys.prefix,
  });

describe('an export', () => {
  it('has each view in pages of 1,000 players, as standings reads them, in the order of the listing', async () => {
    const reader = board.reader();
    const pages = await pagesOf(reader);
    const listed = await reader.views('arena');
    const [first] = listed.filter(({ view }) => view === LARGE);
    expect(first?.size).toBe(PLAYERS);
    const repeated = listed.flatMap((one) => (one === first ? [one, one, one] : [one]));
    expect(pages.map(({ view, size }) => [view, size])).toEqual(
      repeated.map(({ view, size }) => [view, size]),
    );
    const found: Standing[] = pages.flatMap(({ view, entries }) => (view === LARGE ? entries : []));
    const expected: Standing[] = [];
    for (let from = 1; from <= PLAYERS; from += 1_000)
      expected.push(
        ...(await reader.standings('arena', { view: LARGE, from, limit: 1_000 })).entries,
      );
    expect(found).toEqual(expected);
  });

  it('reads a page only when the caller asks for one', async () => {
    let reads = 0;
    const client = interceptedClient(redis, /^ranklogPageBuffer$/, async (run) => {
      reads += 1;
      return run();
    });
    const reader = new BoardReader({ redis: client, prefix: board.keys.prefix });
    const pages = reader.export('arena');
    await pages.next();
    await reader.player('arena', 'ada'); // whatever was asked for before has been read
    expect(reads).toBe(1);
    await pages.return(undefined);
  });

  it.each([
    [
      [NEW.view, 'all'],
      [NEW.view, 'all'],
    ],
    [['all mode=m11 region=eu'], ['all region=eu mode=m11']],
    [['all region=none'], ['all region=none']],
    [[], ['']],
  ])('of the views %j has these', async (names, expected) => {
    const pages = await pagesOf(board.reader(), names);
    expect(pages.map(({ view }) => view)).toEqual(expected);
  });

  it.each<[string[], new (...args: never[]) => Error]>([
    [['all', 'day'], NoSuchViewError],
    [['all', 'all  x=1'], MalformedViewError],
  ])('of the views %j is refused before the first page', async (names, error) => {
    await expect(board.reader().export('arena', names).next()).rejects.toThrow(error);
  });

  it('of a board without views has one page without a view, which says whether it is stale', async () => {
    const fixture = await new StoreFixture(redis, newKeys()).register(arena);
    const nothing = { board: 'arena', view: '', version: 0, size: 0, entries: [] };
    expect(await pagesOf(fixture.reader())).toEqual([{ ...nothing, stale: false }]);
    await redis.hset(fixture.keys.recoveryTargets(0), 0, 99);
    expect(await pagesOf(fixture.reader())).toEqual([{ ...nothing, stale: true }]);
  });

  it('fails if a view expires before all of it is read', async () => {
    const fixture = await filled();
    const keysOf = (view: string) => fixture.keys.ofView(0, fixture.live.generation, view);
    for (const [index, key] of keysOf(LARGE).entries())
      await redis.copy(key, keysOf(NEW.view)[index]!, 'REPLACE');
    const reader = later(fixture, 2, () => moveClock(fixture, KEPT_UNTIL)); // one reads the head
    const pages = reader.export('arena', [NEW.view]);
    expect((await pages.next()).value).toMatchObject({ view: NEW.view, size: PLAYERS });
    await expect(pages.next()).rejects.toThrow(ExpiredViewError);
  });

  it.each([
    ['the views are listed', /^ranklogViews$/, 2],
    ['a view is read', /^ranklogPageBuffer$/, 1],
  ])('fails if another generation goes live when %s', async (_, name, call) => {
    const fixture = await GenerationFixture.make(testRedis);
    const promote = async () => {
      await fixture.makeLive(await fixture.build());
    };
    const client = lateClient(redis, name, once(promote, call));
    const reader = new BoardReader({ redis: client, prefix: fixture.keys.prefix });
    await expect(pagesOf(reader)).rejects.toThrow(ListingInterruptedError);
    expect(await pagesOf(reader)).toMatchObject([{ view: 'all', size: 2 }]);
  });
});
