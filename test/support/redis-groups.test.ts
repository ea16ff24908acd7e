import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { openRedis } from '../../scripts/redis-client.mjs';
import { RedisCluster } from './redis-cluster.js';
import type { RedisNode } from './redis-node.js';
import { SentinelSet } from './sentinel-set.js';

describe('RedisCluster', () => {
  let cluster: RedisCluster;
  let client: Redis;
  beforeAll(async () => {
    cluster = await RedisCluster.start();
    client = openRedis(cluster.url);
    client.on('error', () => undefined);
  });
  afterAll(async () => {
    client.disconnect();
    await cluster.remove();
  });

  it('moves a slot key by key, with ASK and TRYAGAIN halfway', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `{moved}:${index}`);
    for (const name of names) await client.set(name, name);
    const slot = await cluster.slotOf('{moved}');
    const from = await cluster.primaryOf(slot);
    const to = cluster.nodes.slice(0, 3).find((node) => node !== from)!;
    const halfway: unknown[] = [];
    await cluster.moveSlot(slot, to, async () => {
      for (const name of names)
        halfway.push(await from.redis.get(name).catch((error: unknown) => String(error)));
      halfway.push(await from.redis.mget(names).catch((error: unknown) => String(error)));
      expect(await client.get(names[0]!)).toBe(names[0]); // the client follows ASK
    });
    const moved = `ReplyError: ASK ${slot} 127.0.0.1:${to.port}`;
    expect(halfway.filter((answer) => answer === moved)).toHaveLength(5);
    expect(halfway.at(-1)).toMatch(/TRYAGAIN/);
    expect(await cluster.primaryOf(slot)).toBe(to);
    expect(await to.redis.mget(names)).toEqual(names);
    expect(await client.mget(names)).toEqual(names);
  });

  it('fails over by request, and moves keys with it', async () => {
    await client.set('kept', 'by request');
    const primary = await cluster.primaryOfKey('kept');
    const replica = await cluster.replicaOf(primary);
    await cluster.failOver(replica);
    expect(await cluster.primaryOfKey('kept')).toBe(replica);
    expect(await primary.isPrimary()).toBe(false);
    expect(await client.get('kept')).toBe('by request');
  });

  it.each<['kill' | 'freeze', (node: RedisNode) => void | Promise<void>]>([
    ['kill', (node) => node.restart()],
    ['freeze', (node) => node.resume()],
  ])('promotes a replica after the primary is gone: %s', async (harm, repair) => {
    await client.set(harm, 'is kept');
    const primary = await cluster.primaryOfKey(harm);
    const replica = await cluster.replicaOf(primary);
    await primary[harm]();
    await cluster.promoted(replica);
    expect(await replica.redis.get(harm)).toBe('is kept');
    await repair(primary);
    expect(await cluster.replicaOf(replica)).toBe(primary);
    expect(await client.get(harm)).toBe('is kept');
  });

  it('cuts a primary off from the others: they promote its replica, and it refuses writes', async () => {
    await client.set('cut', 'before');
    const primary = await cluster.primaryOfKey('cut');
    const replica = await cluster.replicaOf(primary);
    await cluster.cutOff(primary);
    const refused = await primary.redis.set('cut', 'too late').catch(String);
    expect(refused).toContain('CLUSTERDOWN');
    expect(await replica.isPrimary()).toBe(false);
    await cluster.promoted(replica);
    expect(await primary.isPrimary()).toBe(true);
    await replica.redis.set('cut', 'by the others');
    await cluster.rejoin(primary);
    expect(await cluster.replicaOf(replica)).toBe(primary);
    expect(await client.get('cut')).toBe('by the others');
  });

  it('takes new nodes: a primary for moved slots, and its replica', async () => {
    const added = await cluster.addNode();
    await client.set('new', 'node');
    await cluster.moveSlot(await cluster.slotOf('new'), added);
    const replica = await cluster.addNode(added);
    expect(await cluster.replicaOf(added)).toBe(replica);
    expect(await client.get('new')).toBe('node');
  });
});

type Harm = (primary: RedisNode, set: SentinelSet) => unknown;

describe('SentinelSet', () => {
  const sets: SentinelSet[] = [];
  afterAll(() => Promise.all(sets.map((set) => set.remove())));

  it('waits until the sentinels have promoted the replica, and demoted the old primary', async () => {
    // At once, as it takes the sentinels 10 s to demote a server.
    const failOver = async (harm: Harm, repair: Harm) => {
      const set = await SentinelSet.start();
      sets.push(set);
      const [first, second] = set.servers;
      expect(await set.primary()).toBe(first);
      const client = openRedis(set.url);
      client.on('error', () => undefined);
      await client.set('kept', 'value');
      expect(await set.failOver((primary) => harm(primary, set))).toBe(second);
      expect(await second?.redis.get('kept')).toBe('value');
      await repair(first!, set);
      await set.demoted(first!);
      expect(await client.get('kept')).toBe('value');
      client.disconnect();
    };
    await Promise.all([
      failOver(
        (primary) => primary.kill(),
        (primary) => primary.restart(),
      ),
      failOver(
        (primary) => primary.freeze(),
        (primary) => primary.resume(),
      ),
      failOver(
        (primary, set) => set.cutOff(primary),
        async (primary, set) => {
          expect(await primary.isPrimary()).toBe(true); // another one
          await set.rejoin(primary);
        },
      ),
    ]);
  });
});
