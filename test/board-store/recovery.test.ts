import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { BoardReader } from '#board-store';
import { arena, movements, scored, StoreFixture } from './fixture.js';
import { RedisServer } from '../support/redis-server.js';
import { dumpKeys, openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await new StoreFixture(redis, newKeys()).register(arena);
});

const isStale = async () => {
  const reader = new BoardReader({ redis: fixture.redis, prefix: fixture.keys.prefix });
  const page = await reader.standings('arena', { view: 'all', limit: 1 });
  const place = await reader.player('arena', 'a');
  expect(place.stale).toBe(page.stale);
  return page.stale;
};
const targets = async () =>
  (await fixture.continuity.recoveryTargets()).map(
    ({ partition, applied, target }) => `${partition}: ${applied} of ${target}`,
  );
const outcome = async (...args: Parameters<StoreFixture['call']>) =>
  (await fixture.store.apply(fixture.call(...args))).status;

describe('a shard that is below the published positions of some partitions', () => {
  beforeEach(async () => {
    await fixture.apply([scored('a', [1]), scored('a', [1])]);
    await fixture.compare(new Map([[0, 1], [1, 2], [2, 0], [3, 1]])); // prettier-ignore
  });

  it('recovers these partitions, and reads are stale', async () => {
    expect(await targets()).toEqual(['1: 0 of 2', '3: 0 of 1']);
    expect(await isStale()).toBe(true);
  });

  it('applies no new event of any partition until all have reached their targets', async () => {
    const news = [scored('a', [5])];
    const waits = async (other: string) => {
      const before = await dumpKeys(redis, fixture.keys);
      expect(await outcome(news, { from: 2, published: 1 })).toBe('recovering');
      const ofOther = { partition: 1, from: 2, believed: -1, published: 2 };
      expect(await outcome(news, ofOther)).toBe(other);
      expect(await dumpKeys(redis, fixture.keys)).toEqual(before);
    };
    await waits('gap');
    await fixture.apply([scored('b', [9]), scored('c', [9])], { partition: 1, published: 2 });
    expect(await targets()).toEqual(['3: 0 of 1']);
    await waits('recovering');
    await fixture.apply([scored('d', [9])], { partition: 3, published: 1 });
    expect(await targets()).toEqual([]);
    expect(await isStale()).toBe(false);
    expect(movements(await fixture.apply(news, { from: 2, published: 1 }))).toEqual([
      '4 (4) -> 4 (4)',
    ]);
  });

  it('mutes events below the target, also if the caller names a smaller published position', async () => {
    const events = [scored('b', [9]), scored('c', [9])];
    expect(await fixture.apply(events, { partition: 1, published: 0 })).toEqual([]);
    expect(await redis.exists(fixture.keys.outbox(0, 1))).toBe(0);
    expect(await targets()).toEqual(['3: 0 of 1']);
  });

  it('returns earlier verdicts of a partition that is not below, and moves its applied offset if there are no new events', async () => {
    const again = await fixture.apply([scored('a', [1])], { from: 1, published: 1 });
    expect(movements(again)).toEqual(['1 (1) -> 1 (1)']);
    expect(await outcome([], { from: 2, through: 7, published: 1 })).toBe('applied');
    expect(await fixture.store.appliedOffsets(0)).toEqual([7]);
  });

  it('keeps its stored published position if Kafka has a smaller one', async () => {
    await fixture.apply([scored('a', [1])], { partition: 1, published: 2 });
    await fixture.apply([scored('b', [1])], { partition: 1, from: 1, published: 2 });
    await fixture.apply([], { partition: 1, from: 2, through: 4, published: 5 });
    await fixture.compare(new Map([[1, 3]]));
    expect(await redis.hget(fixture.keys.published(0), '1')).toBe('5');
    expect(await targets()).toEqual(['3: 0 of 1']);
  });

  it('keeps the larger of two targets', async () => {
    await fixture.compare(new Map([[1, 9], [3, 0]])); // prettier-ignore
    expect(await targets()).toEqual(['1: 0 of 9', '3: 0 of 1']);
    await fixture.compare(new Map([[1, 4]]));
    expect(await targets()).toEqual(['1: 0 of 9', '3: 0 of 1']);
  });
});

describe('the continuity of a shard', () => {
  it('is set by one resync at a time, and every call is refused until that resync ends', async () => {
    const { continuity: store, keys } = fixture;
    const seen = await store.continuity(0);
    const begun = (await store.beginResync(0, seen))!;
    expect(begun).toMatchObject({
      server: seen.server,
      token: expect.stringMatching(/^comparing \d+$/),
    });
    expect(await outcome([scored('a', [1])])).toBe('storeChanged');
    expect(await isStale()).toBe(true);
    expect(await store.beginResync(0, seen)).toBeUndefined();
    expect(await store.beginResync(0, await store.continuity(0))).toBeUndefined();
    await redis.del(keys.resyncLease(0)); // as if the lease had expired
    const again = (await store.beginResync(0, await store.continuity(0)))!;
    await store.renew(begun);
    await store.release(begun);
    expect(await store.beginResync(0, await store.continuity(0))).toBeUndefined();
    expect(await store.endResync(0, begun, new Map())).toBeUndefined();
    expect(await store.endResync(0, again, new Map())).toEqual({
      token: expect.stringMatching(new RegExp(`^${seen.server} \\d{16}$`)),
      outdated: [],
    });
  });

  it('is not set if the shard was emptied since the resync began, or another server answers', async () => {
    const { continuity: store } = fixture;
    const begun = (await store.beginResync(0, await store.continuity(0)))!;
    const elsewhere = { ...begun, server: 'f'.repeat(40) };
    const before = await dumpKeys(redis, fixture.keys);
    expect(await store.endResync(0, elsewhere, new Map([[0, 5]]))).toBeUndefined();
    expect(await dumpKeys(redis, fixture.keys)).toEqual(before);
    await redis.del(fixture.keys.continuity(0));
    expect(await store.endResync(0, begun, new Map([[0, 5]]))).toBeUndefined();
    expect(await redis.exists(fixture.keys.continuity(0))).toBe(0);
  });

  it('contains a time, which each resync makes larger even if the clock of the server has gone back', async () => {
    const { server } = await fixture.continuity.continuity(0);
    await redis.set(fixture.keys.continuity(0), `${server} 9000000000000000`);
    await fixture.compare();
    expect(fixture.token).toBe(`${server} 9000000000000002`);
  });

  it('is not replaced by a process that has read an older continuity', async () => {
    const seen = await fixture.continuity.continuity(0);
    await fixture.compare();
    expect(await fixture.continuity.beginResync(0, seen)).toBeUndefined();
    expect((await fixture.continuity.continuity(0)).token).toBe(fixture.token);
  });

  it('is replaced by a resync: calls that name the previous continuity write nothing', async () => {
    const call = fixture.call([scored('a', [1])]);
    await fixture.compare();
    const before = await dumpKeys(redis, fixture.keys);
    expect(await fixture.store.apply(call)).toEqual({ status: 'storeChanged' });
    expect(await dumpKeys(redis, fixture.keys)).toEqual(before);
    expect(await outcome([scored('a', [1])])).toBe('applied');
  });

  it('is no longer valid when the server restarts with its data, or a replica takes over', async () => {
    const own = await RedisServer.start();
    let other = own;
    try {
      fixture = await new StoreFixture(own.redis, newKeys()).register(arena);
      await fixture.apply([scored('a', [1])]);
      await own.kill();
      await own.start();
      expect((await fixture.continuity.continuity(0)).isContinued).toBe(false);
      expect(await isStale()).toBe(true);
      expect(await outcome([scored('a', [1])], { from: 1 })).toBe('storeChanged');
      await fixture.compare(new Map([[0, 1]]));
      expect(await isStale()).toBe(false);
      expect(await outcome([scored('a', [1])], { from: 1 })).toBe('applied');

      other = await RedisServer.start('--replicaof', '127.0.0.1', String(own.port));
      await own.redis.wait(1, 10_000);
      await other.redis.replicaof('NO', 'ONE');
      const { token, keys } = fixture;
      fixture = new StoreFixture(other.redis, keys);
      expect(await fixture.continuity.continuity(0)).toMatchObject({ token, isContinued: false });
      expect(await isStale()).toBe(true);
    } finally {
      if (other !== own) await other.remove();
      await own.remove();
    }
  });
});

describe('the last applied record of a partition', () => {
  const record = (offset: number) => ({ offset, timestamp: 1_000 + offset, hash: `h${offset}` });

  it('is stored with the applied offset, and changes only with it', async () => {
    const events = [scored('a', [1]), scored('a', [1])];
    await fixture.apply(events, { lastRecord: record(1) });
    expect(await fixture.continuity.lastRecord(0)).toEqual(record(1));
    await fixture.apply([events[0]!], { lastRecord: record(0) });
    expect(await fixture.continuity.lastRecord(0)).toEqual(record(1));
    await fixture.apply([], { from: 2, through: 5 });
    expect(await fixture.continuity.lastRecord(0)).toEqual(record(1));
    expect(await fixture.continuity.lastRecord(1)).toBeUndefined();
  });
});
