import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { GenerationFixture } from './generation-fixture.js';
import { dumpKeys, openTestRedis } from './test-redis.js';

const testRedis = openTestRedis();
const { redis, close } = testRedis;
afterAll(close);

/** A client that sends each call of a script again, as ioredis does after a connection broke before the reply came. */
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

describe('a call that is sent again because its reply was lost', () => {
  let fixture: GenerationFixture;
  beforeEach(async () => {
    fixture = await GenerationFixture.make(testRedis, { client: repeating(redis) });
  });

  const live = () => redis.hget(fixture.keys.live(0), 'arena');

  it('begins one shadow, which no sweep discards', async () => {
    const shadow = await fixture.build();
    await fixture.sweep();
    expect(await fixture.generations.shadow('arena')).toEqual(shadow);
    expect(await redis.scard(fixture.keys.discarded(0))).toBe(0);
  });

  it('promotes once', async () => {
    const before = await live();
    const shadow = await fixture.build();
    const { since } = await fixture.makeLive(shadow);
    await fixture.sweep();
    expect(await live()).toBe(shadow.generation);
    expect((await fixture.previousEntry())?.split(' ')[0]).toBe(before);
    expect(String(since)).toBe(await redis.hget(fixture.keys.promotions(0), 'arena'));
  });

  it('keeps and discards a snapshot', async () => {
    const { generations, catalog, lease, keys } = fixture;
    const shadow = await fixture.build();
    await generations.keepAsSnapshot(lease, shadow);
    await fixture.sweep();
    expect(await redis.hget(keys.snapshots(0), shadow.generation)).toBe('arena');
    expect(await redis.hexists(keys.definitions(0), shadow.generation)).toBe(1);
    expect(await catalog.removeSnapshot(shadow.generation)).toBe(true);
    await fixture.sweep();
    expect(await catalog.removeSnapshot(shadow.generation)).toBe(false);
  });

  it('discards the shadow of a killed build', async () => {
    const shadow = await fixture.build();
    await fixture.killHolder();
    expect(await fixture.catalog.discardShadow(shadow.generation)).toBe('arena');
    expect(await fixture.generations.shadow('arena')).toBeUndefined();
  });

  it('begins and discards a rollback', async () => {
    const { generations, lease } = fixture;
    await fixture.makeLive(await fixture.build());
    const previous = await fixture.previousEntry();
    const before = await dumpKeys(redis, fixture.keys);
    const shadow = await generations.beginRollback(lease);
    expect(previous).toContain(shadow.generation);
    await generations.discard(lease, shadow);
    expect(await dumpKeys(redis, fixture.keys)).toEqual(before);
  });

  it('removes a board, and returns the time of the removal', async () => {
    const since = await fixture.generations.remove(fixture.lease);
    expect(since).toBeGreaterThan(0);
    expect(String(since)).toBe(await redis.hget(fixture.keys.promotions(0), 'arena'));
    expect(await live()).toBeNull();
  });
});
