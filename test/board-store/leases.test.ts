import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LeaseHeldError, LeaseLostError, LeaseStore, type Shadow } from '#board-store';
import { EVENTS, GenerationFixture, HOLDER } from './generation-fixture.js';
import { interceptedClient, openTestRedis } from './test-redis.js';

const testRedis = openTestRedis();
const { redis, newKeys, close } = testRedis;
afterAll(close);

let fixture: GenerationFixture;
beforeEach(async () => {
  fixture = await GenerationFixture.make(testRedis);
});

describe('a lease', () => {
  it.each<[string, (set: () => Promise<unknown>, call: number) => Promise<unknown>]>([
    [
      'the request runs twice because the first reply was lost',
      async (set) => (await set(), set()),
    ],
    [
      'the previous lease ends while its holder is read',
      (set, call) => (call === 1 ? Promise.resolve(null) : set()),
    ],
  ])('is acquired if %s', async (_, send) => {
    let calls = 0;
    const client = interceptedClient(redis, /^set$/, (run) => send(run, ++calls));
    const leases = new LeaseStore(client, newKeys(), { shards: 1 });
    await leases.renew(await leases.acquire('arena', 'host:1'));
    await expect(leases.acquire('arena', 'host:2')).rejects.toThrow(LeaseHeldError);
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
    board: 'arena',
    kind: 'build' as const,
    state: 'running' as const,
    generation: 'g',
    holder: HOLDER,
    ...{ done: 1, total: 2, rate: 3, secondsLeft: 6, startedAt: 4, updatedAt: 5 },
  };

  it('is stored, and becomes "failed" once its process is gone', async () => {
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
    'does not say that the work of a killed %s is kept',
    async (kind) => {
      await fixture.leases.renew(fixture.lease, { ...running, kind });
      await fixture.killHolder();
      const [status] = await fixture.leases.statuses();
      expect(status).toMatchObject({ state: 'failed', outcome: 'its process is gone' });
    },
  );
});

describe('a sweep', () => {
  const roleOf = async ({ generation }: Shadow) =>
    (await fixture.catalog.generations()).find((one) => one.generation === generation)?.role;

  it.each([
    ['build', 60_000, 'shadow'],
    ['snapshot', 60_000, 'shadow'],
    ['verify', 60_000, undefined],
    ['rollback', 60_000, 'previous'],
    ['rollback', 0, undefined],
  ] as const)(
    'leaves the shadow of a killed %s alone until its lease ends; with a grace time of %d ms, its role is then: %s',
    async (purpose, graceMs, role) => {
      if (purpose === 'rollback') await fixture.makeLive(await fixture.build(), [], graceMs);
      const shadow =
        purpose === 'rollback'
          ? await fixture.generations.beginRollback(fixture.lease)
          : await fixture.build(EVENTS, { purpose });
      await fixture.sweep();
      expect(await roleOf(shadow)).toBe('shadow');
      await fixture.killHolder();
      await fixture.sweep();
      expect(await roleOf(shadow)).toBe(role);
      expect((await fixture.keysOf(shadow)).length > 0).toBe(role !== undefined);
    },
  );
});

describe('discardShadow', () => {
  it.each(['build', 'verify', 'snapshot'] as const)(
    'discards the shadow of a killed %s, but not one that is worked on',
    async (purpose) => {
      const { catalog } = fixture;
      const { generation } = await fixture.build(EVENTS, { purpose });
      await expect(catalog.discardShadow(generation)).rejects.toMatchObject({
        constructor: LeaseHeldError,
        board: 'arena',
        holder: HOLDER,
      });
      expect(await fixture.shadowEntry()).toContain(generation);
      await fixture.killHolder();
      expect(await catalog.discardShadow(generation)).toBe('arena');
      expect(await catalog.discardShadow(generation)).toBeUndefined();
      await fixture.sweep();
      expect(await fixture.keysOf({ generation })).toEqual([]);
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
