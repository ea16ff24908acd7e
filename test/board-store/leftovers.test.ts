import { afterAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { GenerationCatalog, KeySpace } from '#board-store';
import { arena, lasting, scored, T0 } from './fixture.js';
import { DamagedBoard } from './damaged-board.js';
import { openTestRedis } from './test-redis.js';

const testRedis = openTestRedis();
const { redis, close } = testRedis;
afterAll(close);

const definition = { ...arena, deduplicateMs: 60_000 };
const views = lasting('all', 'all region=eu');
const log = [scored('a', [3], { views, eventId: 'x' }), scored('b', [5], { views, eventId: 'y' })];

let board: DamagedBoard;
let catalog: GenerationCatalog;
beforeEach(async () => {
  // Letters that mean something in a pattern.
  const { prefix } = testRedis.newKeys();
  const newKeys = () => new KeySpace(`${prefix}[*]?\\`);
  board = await DamagedBoard.make({ ...testRedis, newKeys }, definition, [log, []]);
  catalog = new GenerationCatalog(redis, board.fixture.keys, { shards: 1 });
});

const keysOf = async (generation: string) => {
  const names: string[] = [];
  for await (const some of redis.scanStream({ match: `*:${generation}:*`, count: 1_000 }))
    names.push(...(some as string[]));
  return [...new Set(names)].sort();
};

describe('a damaged generation that was given up', () => {
  it.each<[string, (views: string, facts: string) => Promise<unknown>]>([
    ['nothing', () => Promise.resolve()],
    ['views that are gone', (views) => redis.del(views)],
    ['a view that is gone', (views) => redis.hdel(views, 'all')],
    ['views of another type', (views) => redis.set(views, 'abc')],
    ['facts of another type', (_, facts) => redis.set(facts, 'abc')],
    ['facts that are gone', (_, facts) => redis.del(facts)],
  ])('leaves nothing behind, with %s', async (_, damage) => {
    const { keys, live } = board.fixture;
    await damage(keys.views(0, live.generation), keys.facts(0, live.generation));
    expect(await keysOf(live.generation)).not.toEqual([]);
    await board.rebuild();
    const { generation } = board.fixture.live;
    const kept = await keysOf(generation);
    while ((await catalog.sweep()) > 0);
    expect(await keysOf(live.generation)).toEqual([]);
    expect(await redis.hkeys(keys.definitions(0))).toEqual([generation]);
    expect(await redis.smembers(keys.discarded(0))).toEqual([]);
    expect(await keysOf(generation)).toEqual(kept);
    expect(kept.length).toBeGreaterThan(6);
    expect(await board.differences()).toEqual([]);
  });

  it('does not hold up others, whatever is kept of it', async () => {
    const { keys } = board.fixture;
    const [damaged, sound] = [`${T0}-damaged`, `${T0}-sound`];
    await redis.set(keys.views(0, damaged), 'abc');
    await redis.hset(keys.views(0, sound), 'all', 1);
    await redis.hset(keys.players(0, sound, 'all'), 'a', '1@1');
    await redis.hset(keys.origins(0), damaged, 'abc');
    await redis.sadd(keys.discarded(0), damaged, sound);
    while ((await catalog.sweep()) > 0);
    expect(await redis.smembers(keys.discarded(0))).toEqual([]);
    expect(await keysOf(sound)).toEqual([]);
  });

  it('does not hold up other shards either, where nothing can be done in one', async () => {
    const { keys } = board.fixture;
    const sound = `${T0}-sound`;
    await redis.set(keys.previous(0), 'abc');
    await redis.hset(keys.players(1, sound, 'all'), 'a', '1@1');
    await redis.sadd(keys.discarded(1), sound);
    catalog = new GenerationCatalog(redis, keys, { shards: 2 });
    await expect(catalog.sweep()).rejects.toThrow('WRONGTYPE');
    expect(await keysOf(sound)).toEqual([]);
    expect(await redis.smembers(keys.discarded(1))).toEqual([]);
  });

  it('is looked for among all keys only where it was no shadow of a comparison', async () => {
    const scans = jest.spyOn(redis, 'scan');
    expect(await board.differences()).toEqual([]);
    while ((await catalog.sweep()) > 0);
    expect(scans).not.toHaveBeenCalled();
    await board.rebuild();
    while ((await catalog.sweep()) > 0);
    expect(scans).toHaveBeenCalled();
    scans.mockRestore();
  });

  it('is looked for among many keys in many steps, also where others look, too', async () => {
    const { keys, live } = board.fixture;
    const names = Array.from({ length: 25_000 }, (_, number) => {
      const generation = number % 1_000 === 0 ? live.generation : `${T0}-another`;
      return keys.players(0, generation, `day:${number}`);
    });
    await redis.mset(names.flatMap((name) => [name, 'x']));
    await board.rebuild();
    const other = new GenerationCatalog(redis, keys, { shards: 1 });
    let steps = 0;
    while (steps < 50 && (await catalog.sweep()) > 0) if (++steps % 2 === 0) await other.sweep();
    expect(steps).toBeGreaterThan(2);
    expect(await keysOf(live.generation)).toEqual([]);
    expect(await redis.smembers(keys.discarded(0))).toEqual([]);
  });
});
