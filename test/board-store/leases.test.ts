import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LeaseHeldError, LeaseLostError, LeaseStore } from '#board-store';
import { EVENTS, GenerationFixture, HOLDER } from './generation-fixture.js';
import { openTestRedis } from './test-redis.js';

const testRedis = openTestRedis();
const { redis, newKeys, close } = testRedis;
afterAll(close);

let fixture: GenerationFixture;
beforeEach(async () => {
  fixture = await GenerationFixture.make(testRedis);
});

describe('a lease', () => {
  it('is acquired if the request runs twice because the first reply was lost', async () => {
    const client = redis.duplicate();
    const set = client.set.bind(client) as (...args: unknown[]) => Promise<'OK' | null>;
    client.set = (async (...args: unknown[]) => {
      await set(...args);
      return set(...args);
    }) as typeof client.set;
    const leases = new LeaseStore(client, newKeys(), { shards: 1 });
    await leases.renew(await leases.acquire('arena', 'host:1'));
    await expect(leases.acquire('arena', 'host:2')).rejects.toThrow(LeaseHeldError);
    client.disconnect();
  });

  it('is acquired if the one before ends while its holder is read', async () => {
    const client = redis.duplicate();
    const set = client.set.bind(client) as (...args: unknown[]) => Promise<'OK' | null>;
    let tries = 0;
    client.set = ((...args: unknown[]) =>
      ++tries === 1 ? Promise.resolve(null) : set(...args)) as typeof client.set;
    const leases = new LeaseStore(client, newKeys(), { shards: 1 });
    await leases.renew(await leases.acquire('arena', 'host:1'));
    expect(tries).toBe(2);
    client.disconnect();
  });

  it('expires unless it is renewed, and only its holder releases it', async () => {
    const { leases, lease } = fixture;
    const key = fixture.keys.lease(0, 'arena');
    await redis.pexpire(key, 1_000);
    await leases.renew(lease);
    expect(await redis.pttl(key)).toBeGreaterThan(10_000);
    await leases.release({ ...lease, token: 'another' });
    expect(await redis.get(key)).toBe(lease.token);
    await leases.release(lease);
    expect(await redis.exists(key)).toBe(0);
  });
});

describe('the status of a reconciliation', () => {
  const running = {
    ...({
      board: 'arena',
      kind: 'build',
      state: 'running',
      generation: 'g',
      holder: HOLDER,
    } as const),
    ...{ done: 1, total: 2, rate: 3, secondsLeft: 6, startedAt: 4, updatedAt: 5 },
  };

  it('is stored, and failed once its process is gone', async () => {
    const { leases, lease } = fixture;
    await leases.renew(lease, running);
    expect(await leases.statuses()).toEqual([running]);
    await fixture.killHolder();
    const outcome = expect.stringContaining('what was built is kept') as unknown;
    expect(await leases.statuses()).toMatchObject([{ state: 'failed', outcome }]);
    await leases.acquire('arena', 'another');
    expect(await leases.statuses()).toMatchObject([{ state: 'failed' }]);
    await expect(leases.renew(lease, { ...running, state: 'done' })).rejects.toThrow(
      LeaseLostError,
    );
  });

  it.each(['verify', 'rollback'] as const)(
    'does not say that a killed %s is kept',
    async (kind) => {
      await fixture.leases.renew(fixture.lease, { ...running, kind });
      await fixture.killHolder();
      const [status] = await fixture.leases.statuses();
      expect(status).toMatchObject({ state: 'failed', outcome: 'its process is gone' });
    },
  );
});

describe('a sweep', () => {
  it('discards the shadow of a killed verify, but not one that is worked on', async () => {
    const shadow = await fixture.build(EVENTS, { purpose: 'verify' });
    await fixture.sweep();
    expect(await fixture.shadowEntry()).toContain(shadow.generation);
    await fixture.killHolder();
    await fixture.sweep();
    expect(await fixture.shadowEntry()).toBeNull();
    expect(await fixture.keysOf(shadow)).toEqual([]);
  });

  it.each(['build', 'snapshot'] as const)(
    'keeps the shadow of a killed %s, which the next run continues',
    async (purpose) => {
      const { generation } = await fixture.build(EVENTS, { purpose });
      await fixture.killHolder();
      await fixture.sweep();
      expect(await fixture.generations.shadow('arena')).toMatchObject({ generation });
    },
  );

  it.each([
    [60_000, 'makes the shadow of a killed rollback the previous generation again'],
    [0, 'discards the shadow of a killed rollback whose grace time is over'],
  ])('with a grace time of %d ms %s', async (graceMs) => {
    await fixture.makeLive(await fixture.build(), [], graceMs);
    const back = await fixture.generations.beginRollback(fixture.lease);
    await fixture.sweep();
    expect(await fixture.shadowEntry()).toContain(back.generation);
    await fixture.killHolder();
    await fixture.sweep();
    expect(await fixture.shadowEntry()).toBeNull();
    if (graceMs === 0) {
      expect(await fixture.previousEntry()).toBeNull();
      expect(await fixture.keysOf(back)).toEqual([]);
      return;
    }
    expect(await fixture.previousEntry()).toContain(back.generation);
    await fixture.acquire();
    expect(await fixture.generations.beginRollback(fixture.lease)).toEqual(back);
  });
});

describe('discardShadow', () => {
  it.each(['build', 'verify', 'snapshot'] as const)(
    'discards the shadow of a killed %s, but not one that is worked on',
    async (purpose) => {
      const { catalog } = fixture;
      const shadow = await fixture.build(EVENTS, { purpose });
      const discarding = catalog.discardShadow(shadow.generation);
      await expect(discarding).rejects.toMatchObject({ board: 'arena', holder: HOLDER });
      await expect(discarding).rejects.toBeInstanceOf(LeaseHeldError);
      expect(await fixture.shadowEntry()).toContain(shadow.generation);
      await fixture.killHolder();
      expect(await catalog.discardShadow(shadow.generation)).toBe('arena');
      expect(await catalog.discardShadow(shadow.generation)).toBeUndefined();
      await fixture.sweep();
      expect(await fixture.keysOf(shadow)).toEqual([]);
    },
  );

  it('leaves a live generation and the shadow of a rollback alone', async () => {
    const { catalog } = fixture;
    expect(await catalog.discardShadow(fixture.live.generation)).toBeUndefined();
    await fixture.makeLive(await fixture.build());
    const back = await fixture.generations.beginRollback(fixture.lease);
    await fixture.killHolder();
    expect(await catalog.discardShadow(back.generation)).toBeUndefined();
    await fixture.sweep();
    expect(await fixture.previousEntry()).toContain(back.generation);
  });
});
