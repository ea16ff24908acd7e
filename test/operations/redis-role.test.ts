import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { RedisServer } from '../support/redis-server.js';

const BOARDS = 'boards: { arena: { columns: [{ name: score }] } }';

describe('a Redis that becomes a replica, without a closed connection', () => {
  let redis: RedisServer;
  let instance: TestInstance;
  beforeEach(async () => {
    redis = await RedisServer.start();
    const env = { REDIS_URL: `redis://127.0.0.1:${redis.port}`, RANKLOG_QUERY_CACHE: '0' };
    instance = await TestInstance.create(BOARDS, { partitions: 1, env });
  });
  afterEach(async () => {
    await instance.remove();
    await redis.remove();
  });

  const produce = (delta: number) =>
    instance.produce([JSON.stringify({ board: 'arena', playerId: 'ada', delta })]);
  const ready = async ({ operations }: RanklogProcess) =>
    (await fetch(`${operations}/health/ready`)).status;
  const read = async ({ url }: RanklogProcess, path: string) => {
    const response = await fetch(`${url}/v1/boards${path}`);
    return { status: response.status, body: (await response.json()) as object };
  };

  it('is left, by a process with the role query alone too, until it is the primary again', async () => {
    const query = await instance.start('--roles', 'query');
    const others = await instance.start('--roles', 'ingest,reconciliation');
    await produce(1);
    await instance.published(1);
    const score = (value: string) => ({ standing: { columns: { score: value } }, stale: false });
    expect((await read(query, '/arena/players/ada')).body).toMatchObject(score('1'));

    await redis.redis.replicaof('127.0.0.1', '1');
    await produce(10);
    for (const path of ['', '/arena', '/arena/players/ada', '/arena/standings'])
      expect(await read(query, path)).toMatchObject({
        status: 503,
        body: { code: 'STORE_UNAVAILABLE' },
      });
    for (const process of [query, others])
      await until(async () => (await ready(process)) === 503, 'the process is unready');
    for (const { errors } of [query, others])
      expect(errors).toContain('Redis connection lost: READONLY');

    await redis.redis.replicaof('NO', 'ONE');
    for (const process of [query, others])
      await until(async () => (await ready(process)) === 200, 'the process is ready again');
    await instance.published(2);
    await until(async () => {
      const { body } = await read(query, '/arena/players/ada');
      return 'stale' in body && body.stale === false;
    }, 'the board is no longer stale');
    expect((await read(query, '/arena/players/ada')).body).toMatchObject(score('11'));
  });

  it('is not what a start or a command takes', async () => {
    await redis.redis.replicaof('127.0.0.1', '1');
    instance.env['RANKLOG_START_TIMEOUT'] = '1s';
    for (const args of [['start', '--roles', 'query'], ['status']]) {
      const refused = instance.spawn(...args);
      expect(await refused.ended).toBe(3);
      expect(refused.errors).toContain(
        '(READONLY this Redis is a replica of 127.0.0.1:1, whose data may be old)',
      );
    }
  });
});

describe('a process with the roles ingest and query', () => {
  it('sends reads and events over different connections to Redis, so that events do not wait for reads', async () => {
    const redis = await RedisServer.start();
    const env = { REDIS_URL: `redis://127.0.0.1:${redis.port}`, RANKLOG_QUERY_CACHE: '0' };
    const instance = await TestInstance.create(BOARDS, { partitions: 1, env });
    const monitor = await redis.redis.monitor();
    try {
      const applying = new Set<string>();
      const reading = new Set<string>();
      monitor.on('monitor', (_, args: readonly string[], address: string) => {
        if (args.some((arg) => arg.includes('player-1'))) applying.add(address);
        if (args.includes('position')) reading.add(address); // the anchor of a page
      });
      const { url } = await instance.start('--roles', 'query,ingest,reconciliation');
      await instance.produce([JSON.stringify({ board: 'arena', playerId: 'player-1', delta: 1 })]);
      await instance.published(1);
      const { status } = await fetch(`${url}/v1/boards/arena/standings`);
      expect(status).toBe(200);
      await until(() => applying.size > 0 && reading.size > 0, 'Redis has shown both commands');
      expect([...applying].filter((address) => reading.has(address))).toEqual([]);
    } finally {
      monitor.disconnect();
      await instance.remove();
      await redis.remove();
    }
  });
});
