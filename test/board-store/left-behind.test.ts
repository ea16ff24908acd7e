import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  GenerationCatalog,
  GenerationStore,
  LeaseHeldError,
  LeaseStore,
  type Lease,
  type Shadow,
} from '#board-store';
import { arena, scored, StoreFixture, stretchOf } from './fixture.js';
import { openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

const EVENTS = [scored('a', [3]), scored('b', [5])];
const STRETCH = stretchOf(EVENTS);

let fixture: StoreFixture;
let leases: LeaseStore;
let generations: GenerationStore;
let catalog: GenerationCatalog;
let lease: Lease;

beforeEach(async () => {
  fixture = await new StoreFixture(redis, newKeys()).register(arena);
  await fixture.apply(EVENTS);
  leases = new LeaseStore(redis, fixture.keys, { shards: 1 });
  generations = new GenerationStore(redis, fixture.keys, { shards: 1 });
  catalog = new GenerationCatalog(redis, fixture.keys, { shards: 1 });
  lease = await leases.acquire('arena', 'host:1');
});

async function built(purpose: 'build' | 'verify' | 'snapshot'): Promise<Shadow> {
  const shadow = await generations.begin(lease, { definition: arena, purpose });
  await generations.catchUp(lease, shadow, [STRETCH]);
  return shadow;
}

/** The previous generation on its way back. */
async function broughtBack(graceMs: number): Promise<Shadow> {
  const shadow = await built('build');
  await generations.promote(lease, shadow, [], { graceMs });
  return generations.beginRollback(lease);
}

const isHeld = () => redis.hexists(fixture.keys.shadows(0), 'arena');
const keysOf = ({ generation }: Shadow) => redis.keys(`${fixture.keys.prefix}:*${generation}*`);
const previous = () => redis.hget(fixture.keys.previous(0), 'arena');
/** The process is gone, and its lease has run out. */
const killed = () => redis.del(fixture.keys.lease(0, 'arena'));
const sweep = async () => {
  while ((await catalog.sweep()) > 0);
};

describe('a sweep', () => {
  it('lets go of the shadow that a killed verify has left, and of none that is worked on', async () => {
    const shadow = await built('verify');
    await sweep();
    expect(await isHeld()).toBe(1);
    await killed();
    await sweep();
    expect(await isHeld()).toBe(0);
    expect(await keysOf(shadow)).toEqual([]);
  });

  it('leaves what a killed build or snapshot has left: the next run goes on with it', async () => {
    for (const purpose of ['build', 'snapshot'] as const) {
      const shadow = await built(purpose);
      await killed();
      await sweep();
      expect(await generations.shadow('arena')).toMatchObject({ generation: shadow.generation });
      lease = await leases.acquire('arena', 'host:1');
    }
  });

  it('gives what a killed rollback has left back its place, for as long as it was to be kept', async () => {
    const back = await broughtBack(60_000);
    await sweep();
    expect(await isHeld()).toBe(1);
    await killed();
    await sweep();
    expect([await isHeld(), await previous()]).toEqual([
      0,
      expect.stringContaining(back.generation),
    ]);
    lease = await leases.acquire('arena', 'host:2');
    expect(await generations.beginRollback(lease)).toEqual(back);
  });

  it('gives up what a killed rollback has left when its grace time is over', async () => {
    const back = await broughtBack(0);
    await sweep();
    expect(await isHeld()).toBe(1);
    await killed();
    await sweep();
    expect([await isHeld(), await previous()]).toEqual([0, null]);
    expect(await keysOf(back)).toEqual([]);
  });
});

describe('what is discarded', () => {
  it.each(['build', 'verify', 'snapshot'] as const)(
    'is what a killed %s has left, and nothing that is worked on',
    async (purpose) => {
      const shadow = await built(purpose);
      const discarding = catalog.discardShadow(shadow.generation);
      await expect(discarding).rejects.toMatchObject({ board: 'arena', holder: 'host:1' });
      await expect(discarding).rejects.toBeInstanceOf(LeaseHeldError);
      expect(await isHeld()).toBe(1);
      await killed();
      expect(await catalog.discardShadow(shadow.generation)).toBe('arena');
      expect(await catalog.discardShadow(shadow.generation)).toBeUndefined();
      await sweep();
      expect(await keysOf(shadow)).toEqual([]);
    },
  );

  it('is no live generation, nor one that was on its way back', async () => {
    const { generation } = fixture.live;
    expect(await catalog.discardShadow(generation)).toBeUndefined();
    const back = await broughtBack(60_000);
    await killed();
    expect(await catalog.discardShadow(back.generation)).toBeUndefined();
    await sweep();
    expect(await previous()).toContain(back.generation);
  });
});

describe('a killed run', () => {
  it.each(['verify', 'rollback'] as const)(
    'is not said to be kept when it was a %s',
    async (kind) => {
      await leases.renew(lease, {
        ...{ board: 'arena', kind, state: 'running', generation: 'g', holder: 'host:1' },
        ...{ done: 1, total: 2, rate: 3, secondsLeft: 6, startedAt: 4, updatedAt: 5 },
      });
      await killed();
      const [status] = await leases.statuses();
      expect(status).toMatchObject({ state: 'failed', outcome: 'its process is gone' });
    },
  );
});
