import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { BoardReader, ListingInterruptedError, type ViewsPage } from '#board-store';
import { openRedis } from '../../scripts/redis-client.mjs';
import type { SendCommand } from '../../src/infra/redis.js';
import { RedisServer } from '../support/redis-server.js';
import { arena, scored, StoreFixture } from './fixture.js';
import { interceptedClient, lateClient, once, openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

const definition = { ...arena, dimensions: [[], ['x']], maxViews: 1_000_000 };

/** A client, and how many commands it has sent. */
function countingClient() {
  const client = openRedis();
  const counted = { client, sent: 0 };
  const send = client.sendCommand.bind(client) as SendCommand;
  const sendCounted: SendCommand = (...args) => {
    counted.sent += 1;
    return send(...args);
  };
  client.sendCommand = sendCounted;
  return counted;
}

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await new StoreFixture(redis, newKeys()).register(definition);
  await fixture.apply([scored('a', [3]), scored('b', [5])]);
});

describe('a reader', () => {
  const counting = countingClient();
  afterAll(() => counting.client.disconnect());

  it('takes one round trip for a page or a rank once it knows the generation', async () => {
    const reader = new BoardReader({ redis: counting.client, prefix: fixture.keys.prefix });
    const trips = async (read: () => Promise<unknown>) => {
      const before = counting.sent;
      await read();
      return counting.sent - before;
    };
    const page = () => reader.standings('arena');
    const rank = () => reader.player('arena', 'a', { dense: true });
    await page();
    await rank();
    expect([await trips(page), await trips(rank)]).toEqual([1, 1]);
    expect(await trips(() => reader.standings('arena', { view: 'all x=1' }))).toBe(1);
    await fixture.apply([scored('b', [1])], { from: 2 });
    expect(await trips(rank)).toBe(1);
  });

  it('sends all requests of playerOn at once', async () => {
    const reader = new BoardReader({ redis: counting.client, prefix: fixture.keys.prefix });
    await reader.player('arena', 'a');
    const before = counting.sent;
    const requests = ['all', 'all x=1'].map((view) => ({ board: 'arena', view }));
    const reading = reader.playerOn('a', [...requests, { board: 'arena', dense: true }]);
    expect(counting.sent - before).toBe(3);
    expect(await reading).toHaveLength(3);
  });
});

/**
 * So many views that a listing has two pages. If Redis shrinks their hash table after 5 or 10 steps
 * of the listing, HSCAN repeats the most views: it has then read nearly all views that come into
 * one bucket of the smaller table.
 */
const SIZE = 12_400;
/** One view in KEPT stays; the others are deleted. */
const KEPT = 400;

/** Gives a board views of one player each. */
async function addViews(client: Redis, { keys, live }: StoreFixture, names: readonly string[]) {
  const fill = client.pipeline();
  for (const name of names) {
    fill.hset(keys.views(0, live.generation), name, 1);
    fill.zadd(keys.ranking(0, live.generation, name), 0, 'p');
  }
  await fill.exec();
}

function viewNames(size: number, trial = 0): string[] {
  return Array.from({ length: size }, (_, index) => `all x=${trial}-${index}`);
}

/** Removes views, and sends the commands during which Redis shrinks the hash table step by step. */
async function removeViews({ keys, live }: StoreFixture, gone: readonly string[]) {
  const views = keys.views(0, live.generation);
  for (let from = 0; from < gone.length; from += 1_000)
    await redis.hdel(views, ...gone.slice(from, from + 1_000));
  const touch = `for i = 1, 40000 do redis.call('HGET', KEYS[1], 'none') end`;
  const shrink = `redis.call('HSET', KEYS[1], 'none', 1) redis.call('HDEL', KEYS[1], 'none')`;
  await redis.eval(`${touch} ${shrink} ${touch}`, 1, views);
}

describe('a listing of views', () => {
  it.each([
    ['while a page is read', 7],
    ['between two pages', 12],
  ])('lists each remaining view exactly once, when most are deleted %s', async (_, call) => {
    for (let trial = 0; trial < 6; trial++) {
      fixture = await new StoreFixture(redis, newKeys()).register(definition);
      const names = viewNames(SIZE, trial);
      await addViews(redis, fixture, names);
      const kept = names.filter((_, index) => index % KEPT === 0);
      const gone = names.filter((_, index) => index % KEPT !== 0);
      const meanwhile = once(() => removeViews(fixture, gone), call);
      const client = lateClient(redis, /^ranklogViews$/, meanwhile);
      const found = (
        await new BoardReader({ redis: client, prefix: fixture.keys.prefix }).views('arena')
      ).map(({ view }) => view);
      expect(new Set(found).size).toBe(found.length);
      expect(kept.filter((view) => !found.includes(view))).toEqual([]);
    }
  });

  it('reads a limited number of views at a time, and returns pages sorted by name', async () => {
    await addViews(redis, fixture, viewNames(SIZE));
    const replies: number[] = [];
    const client = interceptedClient(redis, /^ranklogViews$/, async (run) => {
      const reply = (await run()) as unknown[];
      replies.push(reply.length);
      return reply;
    });
    const reader = new BoardReader({ redis: client, prefix: fixture.keys.prefix });
    const sizes: number[] = [];
    for await (const { views } of reader.viewPages('arena')) {
      const names = views.map(({ view }) => view);
      expect(names).toEqual([...names].sort());
      sizes.push(names.length);
    }
    expect(Math.max(...replies)).toBeLessThan(3 * 1_200);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(SIZE + 1);
    expect(sizes).toHaveLength(2);
  });

  it('continues after a page by its cursor', async () => {
    const names = viewNames(SIZE);
    await addViews(redis, fixture, names);
    const reader = new BoardReader({ redis, prefix: fixture.keys.prefix });
    const pageAfter = async (after?: string) =>
      (await reader.viewPages('arena', after).next()).value as ViewsPage;
    const first = await pageAfter();
    const second = await pageAfter(first.next);
    expect(second.next).toBeUndefined();
    const found = new Set([first, second].flatMap(({ views }) => views.map(({ view }) => view)));
    expect(names.filter((view) => !found.has(view))).toEqual([]);
    expect(first.views.length).toBeLessThan(SIZE);
  });

  it('fails if another server answers, because the cursor of the listing is not valid there', async () => {
    const server = await RedisServer.start();
    try {
      const own = await new StoreFixture(server.redis, newKeys()).register(definition);
      await addViews(server.redis, own, viewNames(3_000));
      const restart = once(async () => {
        await server.kill();
        await server.start();
      }, 3);
      const client = lateClient(server.redis, /^ranklogViews$/, restart);
      const listing = new BoardReader({ redis: client, prefix: own.keys.prefix }).views('arena');
      await expect(listing).rejects.toThrow(ListingInterruptedError);
    } finally {
      await server.remove();
    }
  });
});
