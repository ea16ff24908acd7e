import { afterAll, describe, expect, it } from '@jest/globals';
import { LeaseHeldError, LeaseStore } from '#board-store';
import { openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

describe('a lease', () => {
  it('is got by who asks for it, also when the request runs twice, as the first reply is lost', async () => {
    const keys = newKeys();
    const client = redis.duplicate();
    const set = client.set.bind(client) as (...args: unknown[]) => Promise<'OK' | null>;
    client.set = (async (...args: unknown[]) => {
      await set(...args);
      return set(...args);
    }) as typeof client.set;
    const leases = new LeaseStore(client, keys, { shards: 1 });
    const lease = await leases.acquire('arena', 'host:1');
    await leases.renew(lease);
    await expect(leases.acquire('arena', 'host:2')).rejects.toThrow(LeaseHeldError);
    client.disconnect();
  });

  it('is got where the one before ends while it is looked who holds it', async () => {
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
});
