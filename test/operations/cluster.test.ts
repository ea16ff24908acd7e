import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execa } from 'execa';
import type { Cluster } from 'ioredis';
import { KeySpace, shardOf } from '#board-store';
import { loadSettings } from '../../src/config/settings.js';
import { createRedis } from '../../src/infra/redis.js';
import type { HealthReport } from '../../src/operations/health.js';
import { redisCommands } from '../security/documented-rights.js';
import { eventually } from '../support/eventually.js';
import { TestInstance, type RanklogProcess } from '../support/instance.js';
import { SILENT } from '../support/loggers.js';
import { readRankChanges } from '../support/results.js';
import { RedisCluster } from '../support/redis-cluster.js';
import type { RedisNode } from '../support/redis-node.js';

/** So many that no node has all shards, or all boards. */
const SHARDS = 32;
const NAMES = ['arena', ...Array.from({ length: 31 }, (_, number) => `b${number}`)];
const BOARDS = [
  'boards:',
  '  leagues: { columns: [{ name: points }], dimensions: [[league]] }',
  ...NAMES.map((name) => `  ${name}: { columns: [{ name: points }] }`),
].join('\n');

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
    const health = `${service.operations}/health/ready`;
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
    expect(service.errors).toContain('compared shard 0 with Kafka');
    expect((await status()).exitCode).toBe(0);
    // A node may lose the number of shards, too: the settings have it.
    for (const { redis } of cluster.nodes) await redis.del(keys.shards()).catch(() => 0); // MOVED
    expect((await status()).exitCode).toBe(0);
  });

  it('goes on while a shard moves by the documented commands', async () => {
    await instance.start();
    const event = { board: 'leagues', playerId: 'a', delta: 1, attributes: { league: 'en 1' } };
    await instance.produce([JSON.stringify(event)]);
    await instance.published(1);
    const shard = shardOf('leagues', SHARDS);
    const from = await cluster.primaryOf(keys.slot(shard));
    const to = cluster.nodes.find((node) => node !== from)!;
    const [, script = ''] =
      /```sh\n(cli\(\).*?)^move /ms.exec(readFileSync('docs/operations.md', 'utf8')) ?? [];
    const address = ({ port }: RedisNode) => `127.0.0.1:${port}`;
    const move = `move '{${instance.name}:${shard}}' ${address(from)} ${address(to)}`;
    await execa('bash', ['-c', script + move], { timeout: 30_000 });
    await instance.produce([JSON.stringify(event)]);
    await instance.published(2);
    await eventually(
      async () => (await cluster.primaryOf(keys.slot(shard))) === to,
      'all nodes know the new one',
    );
    expect(await readRankChanges(instance.kafka, instance.topics)).toHaveLength(2);
  });

  it('goes on with the other shards, without a restart, if a node is away', async () => {
    for (const { redis } of cluster.nodes)
      await redis.call('CONFIG', 'SET', 'cluster-require-full-coverage', 'no');
    instance.env['RANKLOG_STALL_TIMEOUT'] = '10s';
    const service = await instance.start();
    const send = (delta: number) =>
      instance.produce(NAMES.map((board) => JSON.stringify({ board, playerId: 'a', delta })));
    await send(1);
    await instance.published(NAMES.length);
    const away = await cluster.primaryOf(keys.slot(0));
    const lost = await shardsOf(away);
    expect(lost.length).toBeLessThan(SHARDS);
    const isLost = (board: string) => lost.includes(shardOf(board, SHARDS));
    await away.kill();
    const shown = {
      partitions: [{ lag: 0 }, { lag: 0 }],
      waitingShards: lost.map((shard) => ({ shard, slot: keys.slot(shard) })),
    };
    const partial = await status();
    expect(partial.exitCode).toBe(3);
    expect(JSON.parse(partial.output)).toMatchObject(shown);
    for (const shard of lost)
      expect(partial.errors).toContain(`shard ${shard} (slot ${keys.slot(shard)}) waits`);
    expect(await (await fetch(`${service.url}/v1/status`)).json()).toMatchObject(shown);

    await send(2);
    const stuck = async () => {
      const health = await fetch(`${service.operations}/health/ready`);
      const { partitions } = (await health.json()) as HealthReport;
      return Math.max(...partitions.map(({ stuckSeconds }) => stuckSeconds));
    };
    await eventually(async () => (await stuck()) > 15, 'a partition waits for the shard', 60);

    const query = await instance.start('--roles', 'query');
    for (const { url } of [service, query]) {
      const read = async (board = '') =>
        (await fetch(`${url}/v1/boards/${board}/standings`)).json();
      expect(await read(NAMES.find((board) => !isLost(board)))).toMatchObject({ size: 1 });
      expect(await read(NAMES.find(isLost))).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    }

    await away.restart();
    await instance.published(2 * NAMES.length);
    expect(service.exitCode).toBeNull();
    const changes = await readRankChanges(instance.kafka, instance.topics);
    expect(changes).toHaveLength(2 * NAMES.length);
    expect((await status()).exitCode).toBe(0);
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
