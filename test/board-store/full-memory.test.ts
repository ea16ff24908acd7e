import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  GenerationCatalog,
  GenerationStore,
  isOutOfMemory,
  LeaseStore,
  type Lease,
  type Shadow,
} from '#board-store';
import { RedisServer } from '../support/redis-server.js';
import { arena, scored, StoreFixture, stretchOf } from './fixture.js';
import { dumpKeys, openTestRedis } from './test-redis.js';

const EVENTS = [scored('a', [3]), scored('b', [5])];
const STRETCH = stretchOf(EVENTS);

describe('a Redis whose memory is full', () => {
  const { newKeys, close } = openTestRedis();
  let own: RedisServer;
  let fixture: StoreFixture;
  let generations: GenerationStore;
  let catalog: GenerationCatalog;
  let lease: Lease;

  beforeEach(async () => {
    own = await RedisServer.start();
    fixture = await new StoreFixture(own.redis, newKeys()).register(arena);
    await fixture.apply(EVENTS);
    generations = new GenerationStore(own.redis, fixture.keys, { shards: 1 });
    catalog = new GenerationCatalog(own.redis, fixture.keys, { shards: 1 });
    lease = await new LeaseStore(own.redis, fixture.keys, { shards: 1 }).acquire('arena', 'test');
  });
  afterEach(() => own.remove());
  afterAll(close);

  const begun = (purpose: 'build' | 'snapshot') =>
    generations.begin(lease, { definition: arena, purpose });
  const fill = () => own.redis.config('SET', 'maxmemory', '1');
  const refused = async (work: Promise<unknown>): Promise<void> => {
    const before = await dumpKeys(own.redis, fixture.keys);
    const failure: unknown = await work.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(isOutOfMemory(failure)).toBe(true);
    expect(await dumpKeys(own.redis, fixture.keys)).toEqual(before);
  };
  const sweep = async () => {
    while ((await catalog.sweep()) > 0);
  };
  const keysOf = ({ generation }: Shadow) => own.redis.keys(`*${generation}*`);

  it('takes nothing more into a shadow, and no order, which would go on for as long as there are players', async () => {
    const shadow = await begun('build');
    await generations.catchUp(lease, shadow, [STRETCH]);
    await fill();
    await fixture.redis.config('SET', 'maxmemory', '0');
    const other = await begun('build');
    await fill();
    await refused(generations.catchUp(lease, other, [STRETCH]));
  });

  it('lets go of a shadow, and gives its memory back', async () => {
    const shadow = await begun('build');
    await generations.catchUp(lease, shadow, [STRETCH]);
    await fill();
    await generations.discard(lease, shadow);
    await sweep();
    expect(await keysOf(shadow)).toEqual([]);
  });

  it('gives up what a killed build has left', async () => {
    const shadow = await begun('build');
    await generations.catchUp(lease, shadow, [STRETCH]);
    await own.redis.del(fixture.keys.lease(0, 'arena'));
    await fill();
    expect(await catalog.discardShadow(shadow.generation)).toBe('arena');
    await sweep();
    expect(await keysOf(shadow)).toEqual([]);
  });

  it('is read', async () => {
    await fill();
    const reader = fixture.reader();
    const page = await reader.standings('arena', 'all', { offset: 0, limit: 9 });
    expect(page.entries.map(({ playerId }) => playerId)).toEqual(['b', 'a']);
    const { entries } = await reader.rank('arena', 'all', 'a');
    expect(entries).toMatchObject([{ playerId: 'a', rank: 2 }]);
    expect(await reader.views('arena')).toMatchObject([{ view: 'all', size: 2 }]);
    expect(await reader.overviews()).toMatchObject([{ board: 'arena', views: 1 }]);
  });

  it('lets go of a rollback', async () => {
    const shadow = await begun('build');
    await generations.promote(lease, shadow, [STRETCH], { graceMs: 60_000 });
    const previous = await own.redis.hgetall(fixture.keys.previous(0));
    const back = await generations.beginRollback(lease);
    await fill();
    await generations.discard(lease, back);
    expect(await own.redis.hgetall(fixture.keys.previous(0))).toEqual(previous);
  });

  it('gives up a previous generation whose grace time is over', async () => {
    const { live } = fixture;
    const shadow = await begun('build');
    await generations.promote(lease, shadow, [STRETCH], { graceMs: 0 });
    await fill();
    await sweep();
    expect(await own.redis.keys(`*${live.generation}*`)).toEqual([]);
  });

  it('gives up a snapshot', async () => {
    const shadow = await begun('snapshot');
    await generations.catchUp(lease, shadow, [STRETCH]);
    await generations.keepAsSnapshot(lease, shadow);
    await fill();
    expect(await catalog.removeSnapshot(shadow.generation)).toBe(true);
    await sweep();
    expect(await keysOf(shadow)).toEqual([]);
  });
});
