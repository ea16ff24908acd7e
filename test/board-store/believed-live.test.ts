import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { GenerationStore, LeaseStore, type Lease, type Shadow } from '#board-store';
import { endingOf } from './damaged-board.js';
import { arena, scored, StoreFixture, stretchOf } from './fixture.js';
import { openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

const EVENTS = [scored('a', [5]), scored('b', [3])];
const GRACE = { graceMs: 60_000 };

describe('a process that has made a generation live, before another one makes one live', () => {
  let fixture: StoreFixture;
  let here: GenerationStore;
  let there: GenerationStore;
  let lease: Lease;

  beforeEach(async () => {
    fixture = await new StoreFixture(redis, newKeys()).register(arena);
    await fixture.apply(EVENTS);
    here = new GenerationStore(redis, fixture.keys, { shards: 1 });
    there = new GenerationStore(redis, fixture.keys, { shards: 1 });
    lease = await new LeaseStore(redis, fixture.keys, { shards: 1 }).acquire('arena', 'test');
    await build(here);
  });

  const begun = async (store: GenerationStore): Promise<Shadow> => {
    const shadow = await store.begin(lease, { definition: arena, purpose: 'build' });
    return shadow;
  };
  const promote = (store: GenerationStore, shadow: Shadow) =>
    store.promote(lease, shadow, [stretchOf(EVENTS)], GRACE);
  const build = async (store: GenerationStore): Promise<string> => {
    const shadow = await begun(store);
    endingOf(await promote(store, shadow));
    return shadow.generation;
  };

  it('replaces that one by what it builds then', async () => {
    const between = await build(there);
    const shadow = await begun(here);
    expect(endingOf(await promote(here, shadow)).previous).toBe(between);
  });

  it('compares with that one', async () => {
    await build(there);
    const shadow = await here.begin(lease, { definition: arena, purpose: 'verify' });
    const outcome = await here.compare(lease, shadow, [stretchOf(EVENTS)]);
    expect(endingOf(outcome)).toMatchObject({ views: 1, differences: [] });
  });

  it('replaces that one by the shadow that somebody left', async () => {
    const between = await build(there);
    await begun(there);
    const left = (await here.shadow('arena'))!;
    expect(endingOf(await promote(here, left)).previous).toBe(between);
  });

  it('replaces that one by the generation of before', async () => {
    const before = await redis.hget(fixture.keys.live(0), 'arena');
    const between = await build(there);
    const previous = await here.beginRollback(lease);
    expect(previous.generation).toBe(before);
    expect(endingOf(await promote(here, previous)).previous).toBe(between);
  });

  it('is refused with a shadow of before', async () => {
    const shadow = await begun(here);
    expect(await here.promote(lease, shadow, [], GRACE)).not.toHaveProperty('ending');
    await build(there);
    expect(await promote(here, shadow)).toEqual({ status: 'generationChanged' });
    expect(await promote(here, shadow)).toEqual({ status: 'shadowGone' });
  });
});
