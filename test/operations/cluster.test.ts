import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Cluster } from 'ioredis';
import { KeySpace } from '#board-store';
import { loadSettings } from '../../src/config/settings.js';
import { createRedis } from '../../src/infra/redis.js';
import { redisCommands } from '../security/documented-rights.js';
import { eventually } from '../support/eventually.js';
import { TestInstance, type RanklogProcess } from '../support/instance.js';
import { SILENT } from '../support/loggers.js';
import { RedisCluster } from '../support/redis-cluster.js';
import type { RedisNode } from '../support/redis-node.js';

const BOARDS = 'boards: { arena: { columns: [{ name: points }] } }';
const SHARDS = 4;

it('reads nothing from replicas of a cluster, also if they are asked', async () => {
  const cluster = await RedisCluster.start(6);
  const redis = createRedis(loadSettings({ REDIS_URL: cluster.url }).settings, SILENT) as Cluster;
  try {
    await redis.connect();
    await redis.set('key', 'value');
    await eventually(() => {
      redis.refreshSlotsCache();
      return redis.nodes('slave').length === 3;
    }, 'the client knows the replicas');
    const answers = await Promise.all(
      redis.nodes('slave').map((replica) => replica.get('key').catch(String)),
    );
    expect(answers).toEqual(Array(3).fill(expect.stringContaining('MOVED')));
  } finally {
    redis.disconnect();
    await cluster.remove();
  }
});

describe('a ranklog on a Redis Cluster', () => {
  let cluster: RedisCluster;
  let instance: TestInstance;
  let keys: KeySpace;
  beforeEach(async () => {
    cluster = await RedisCluster.start(3);
    const env = { REDIS_URL: cluster.url, RANKLOG_SHARDS: String(SHARDS) };
    instance = await TestInstance.create(BOARDS, { partitions: 2, env });
    keys = new KeySpace(instance.name);
  });
  afterEach(async () => {
    await instance.remove();
    await cluster.remove();
  });

  async function status(): Promise<RanklogProcess> {
    const child = instance.spawn('status', '--json');
    await child.ended;
    return child;
  }

  /** The shards on a node. */
  async function shardsOf(node: RedisNode): Promise<number[]> {
    const all = Array.from({ length: SHARDS }, (_, shard) => shard);
    const primaries = await Promise.all(all.map((shard) => cluster.primaryOf(keys.slot(shard))));
    return all.filter((shard) => primaries[shard] === node);
  }

  it('says which shard waits for a slot that moves, in its status and its health', async () => {
    const service = await instance.start();
    const health = `${/http:\/\/127[^ "]+/.exec(service.errors)![0]}/health/ready`;
    const moves =
      /Redis Cluster: a slot moves, (so its scripts wait|or its primary does not answer)/;
    const slot = keys.slot(0);
    const from = await cluster.primaryOf(slot);
    const to = cluster.nodes.find((node) => node !== from)!;
    await cluster.moveSlot(slot, to, async () => {
      const partial = await status();
      expect([partial.exitCode, partial.errors]).toEqual([3, expect.stringMatching(moves)]);
      expect(partial.errors).toContain(`shard 0 (slot ${slot}) waits`);
      await instance.produce([JSON.stringify({ board: 'arena', playerId: 'a', delta: 1 })]);
      const text = async () => (await fetch(health)).text();
      await eventually(async () => moves.test(await text()), 'health names the reason', 30);
    });
    await instance.published(1);
    expect((await status()).exitCode).toBe(0);
    // A node may lose the number of shards, too: the settings have it.
    for (const { redis } of cluster.nodes) await redis.del(keys.shards()).catch(() => 0); // MOVED
    expect((await status()).exitCode).toBe(0);
  });

  it('shows the other shards while the node of some is away', async () => {
    for (const { redis } of cluster.nodes)
      await redis.call('CONFIG', 'SET', 'cluster-require-full-coverage', 'no');
    await instance.start();
    const away = await cluster.primaryOf(keys.slot(0));
    const lost = await shardsOf(away);
    expect(lost.length).toBeLessThan(SHARDS);
    await away.kill();
    const partial = await status();
    expect(partial.exitCode).toBe(3);
    for (const shard of lost)
      expect(partial.errors).toContain(`shard ${shard} (slot ${keys.slot(shard)}) waits`);
    expect(JSON.parse(partial.output)).toMatchObject({ partitions: [{ lag: 0 }, { lag: 0 }] });
  });

  it('needs only the documented rights in Redis, and "doctor" names those that are missing', async () => {
    for (const { redis } of cluster.nodes) {
      for (const command of redisCommands('word'))
        await redis.call('ACL', ...command.slice(1).map(ofInstance));
      const commands = redisCommands('word').slice(0, 2); // those of one server
      for (const [, setUser = '', , ...rights] of commands)
        await redis.call('ACL', setUser, 'less', ...rights.map(ofInstance));
      await redis.call('ACL', 'SETUSER', 'less', '+cluster|slots', '+cluster|info');
    }
    const url = (user: string) => cluster.url.replace('//', `//${user}:word@`);
    instance.env['REDIS_URL'] = url('less');
    const doctor = instance.spawn('doctor');
    expect(await doctor.ended).toBe(2);
    expect(doctor.output + doctor.errors).toContain(`ACL SETUSER less ~${instance.name}:* +asking`);
    instance.env['REDIS_URL'] = url('ranklog').replace('word', 'wrong');
    const refused = await status();
    expect([refused.exitCode, refused.errors]).toEqual([2, expect.stringContaining('WRONGPASS')]);
    instance.env['REDIS_URL'] = url('ranklog');
    for (const { redis } of cluster.nodes) await redis.call('ACL', 'LOG', 'RESET');
    await instance.start();
    const slot = keys.slot(0);
    const from = await cluster.primaryOf(slot);
    await cluster.moveSlot(
      slot,
      cluster.nodes.find((node) => node !== from)!,
      async () => {
        await instance.produce([JSON.stringify({ board: 'arena', playerId: 'a', delta: 1 })]);
      },
    );
    await instance.published(1);
    expect((await status()).exitCode).toBe(0);
    for (const { redis } of cluster.nodes) {
      const log = (await redis.call('ACL', 'LOG')) as unknown[][];
      expect(log.filter((entry) => entry.includes('ranklog'))).toEqual([]);
    }
  });

  /** A documented right, with the prefix of the instance. */
  function ofInstance(right: string): string {
    return right.replace('~ranklog:', `~${instance.name}:`);
  }
});
