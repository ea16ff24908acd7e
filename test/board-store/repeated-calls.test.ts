import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { GenerationCatalog, GenerationStore, LeaseStore, type Lease } from '#board-store';
import { arena, scored, StoreFixture, stretchOf } from './fixture.js';
import { dumpKeys, openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

/** A client that sends each call of a script again, as ioredis does after a connection that broke before the answer came. */
function repeating(client: Redis): Redis {
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const call = (...args: unknown[]) => Reflect.apply(value, target, args) as unknown;
      if (!String(name).startsWith('ranklog')) return call;
      return async (...args: unknown[]) => {
        await call(...args);
        return call(...args);
      };
    },
  });
}

const EVENTS = [scored('a', [3]), scored('b', [5])];

describe('a call whose answer was lost, and that is sent again', () => {
  let fixture: StoreFixture;
  let generations: GenerationStore;
  let catalog: GenerationCatalog;
  let lease: Lease;
  beforeEach(async () => {
    fixture = await new StoreFixture(redis, newKeys()).register(arena);
    await fixture.apply(EVENTS);
    const again = repeating(redis);
    lease = await new LeaseStore(redis, fixture.keys, { shards: 1 }).acquire('arena', 'test');
    generations = new GenerationStore(again, fixture.keys, { shards: 1 });
    catalog = new GenerationCatalog(again, fixture.keys, { shards: 1 });
  });

  const built = async () => {
    const shadow = await generations.begin(lease, { definition: arena, purpose: 'build' });
    await generations.catchUp(lease, shadow, [stretchOf(EVENTS)]);
    return shadow;
  };
  const sweep = async () => {
    while ((await catalog.sweep()) > 0);
  };
  const promote = async () => {
    const shadow = await built();
    const outcome = await generations.promote(lease, shadow, [], { graceMs: 60_000 });
    if (outcome.status !== 'applied') throw new Error(outcome.status);
    return { shadow, promotion: outcome.ending };
  };
  const live = () => redis.hget(fixture.keys.live(0), 'arena');

  it('begins one shadow, which nobody sweeps away', async () => {
    const shadow = await built();
    await sweep();
    expect(await generations.shadow('arena')).toEqual(shadow);
    expect(await redis.scard(fixture.keys.discarded(0))).toBe(0);
  });

  it('makes it live once', async () => {
    const before = await live();
    const { shadow, promotion: done } = await promote();
    await sweep();
    expect(await live()).toBe(shadow.generation);
    const [kept] = (await redis.hget(fixture.keys.previous(0), 'arena'))?.split(' ') ?? [];
    expect(kept).toBe(before);
    expect(String(done?.since)).toBe(await redis.hget(fixture.keys.promotions(0), 'arena'));
  });

  it('keeps a snapshot', async () => {
    const shadow = await built();
    await generations.keepAsSnapshot(lease, shadow);
    await sweep();
    expect(await redis.hget(fixture.keys.snapshots(0), shadow.generation)).toBe('arena');
    expect(await redis.hexists(fixture.keys.definitions(0), shadow.generation)).toBe(1);
  });

  it('gives up a snapshot, and says so', async () => {
    const shadow = await built();
    await generations.keepAsSnapshot(lease, shadow);
    expect(await catalog.removeSnapshot(shadow.generation)).toBe(true);
    await sweep();
    expect(await catalog.removeSnapshot(shadow.generation)).toBe(false);
  });

  it('gives up what a killed build has left, and says so', async () => {
    const shadow = await built();
    await redis.del(fixture.keys.lease(0, 'arena'));
    expect(await catalog.discardShadow(shadow.generation)).toBe('arena');
    expect(await generations.shadow('arena')).toBeUndefined();
  });

  it('brings the previous generation back, and gives it up, once', async () => {
    await promote();
    const previous = await redis.hget(fixture.keys.previous(0), 'arena');
    const before = await dumpKeys(redis, fixture.keys);
    const shadow = await generations.beginRollback(lease);
    expect(previous).toContain(shadow.generation);
    await generations.discard(lease, shadow);
    expect(await dumpKeys(redis, fixture.keys)).toEqual(before);
  });

  it('removes a board once, and tells when', async () => {
    const since = await generations.remove(lease);
    expect(since).toBeGreaterThan(0);
    expect(String(since)).toBe(await redis.hget(fixture.keys.promotions(0), 'arena'));
    expect(await live()).toBeNull();
  });
});
