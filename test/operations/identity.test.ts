import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { loadSettings } from '../../src/config/settings.js';
import { readIdentity } from '../../src/infra/identity.js';
import { KafkaConnection } from '../../src/infra/kafka.js';
import { deleteKeys } from '../../scripts/redis-client.mjs';
import { eventually } from '../support/eventually.js';
import { TestInstance, type RanklogProcess } from '../support/instance.js';
import { SILENT } from '../support/loggers.js';
import { readCommitted } from '../support/results.js';

const BOARDS = 'boards: { arena: { columns: [{ name: points }] } }';
const EVENTS = 200;

describe('two services with different settings on the same topics and Redis', () => {
  let instance: TestInstance;
  beforeEach(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 2 });
  });
  afterEach(() => instance.remove());

  /** Starts a command with other settings. */
  function spawn(env: NodeJS.ProcessEnv, ...args: string[]): RanklogProcess {
    const { env: own } = instance;
    const kept = { ...own };
    Object.assign(own, env);
    const other = instance.spawn(...args);
    Object.assign(own, kept);
    return other;
  }

  const names = (to: number, from = 0) =>
    Array.from({ length: to - from }, (_, index) => `p${String(from + index).padStart(3, '0')}`);

  function produce(from: number): Promise<void> {
    const line = (playerId: string) => JSON.stringify({ board: 'arena', playerId, delta: 1 });
    return instance.produce(names(from + EVENTS, from).map(line));
  }

  /** The players of all rank changes; each event has its own player. */
  async function players(): Promise<string[]> {
    const records = await readCommitted(instance.kafka, instance.topics.rankChanges);
    return records.map(({ key }) => key!.toString()).sort();
  }

  it('do not run together: the second one refuses to start, with a reason, and nothing is published twice', async () => {
    await instance.start();
    const { name } = instance;
    for (const [variable, roles] of [
      ['RANKLOG_GROUP', 'ingest'],
      ['RANKLOG_GROUP', 'ingest,reconciliation'],
      ['RANKLOG_REDIS_PREFIX', 'ingest,reconciliation'],
    ] as const) {
      const second = spawn({ [variable]: `${name}-2` }, 'start', '--roles', roles);
      expect(await second.ended).toBe(2);
      expect(second.errors).toContain(`${variable} is ${name} there and ${name}-2 here`);
      expect(second.errors).toContain('ranklog topics --adopt');
    }
    expect(await instance.redis.keys(`${name}-2:*`)).toEqual([]);
    const build = spawn({ RANKLOG_GROUP: `${name}-2` }, 'boards', 'rebuild', 'arena');
    expect(await build.ended).toBe(2);
    await produce(0);
    await instance.published(EVENTS);
    expect(await players()).toEqual(names(EVENTS));
  });

  it('take over from each other with "topics --adopt": the service with the old settings ends with an error', async () => {
    const service = await instance.start();
    await produce(0);
    await instance.published(EVENTS);
    const group = `${instance.name}-2`;
    const adopt = spawn({ RANKLOG_GROUP: group }, 'topics', '--adopt');
    await produce(EVENTS);
    expect(await adopt.ended).toBe(0);
    expect(adopt.errors).toContain(
      `settings moved; before: RANKLOG_GROUP is ${instance.name} there and ${group} here`,
    );
    expect(await service.ended).toBe(1);
    expect(service.errors).toContain(`RANKLOG_GROUP is ${group} there and ${instance.name} here`);
    const next = spawn({ RANKLOG_GROUP: group }, 'start');
    await eventually(async () => (await players()).length >= 2 * EVENTS, 'all results exist');
    expect(next.exitCode).toBeNull();
    expect(await players()).toEqual(names(2 * EVENTS));
    const back = instance.spawn('start');
    expect(await back.ended).toBe(2);
  });

  it('have another number of shards after the keys are deleted and "topics --adopt": no result appears twice', async () => {
    const service = await instance.start();
    await produce(0);
    await instance.published(EVENTS);
    service.kill('SIGTERM');
    await service.ended;
    const { env } = instance;
    env['RANKLOG_SHARDS'] = '4';
    const refused = instance.spawn('topics', '--adopt');
    expect(await refused.ended).toBe(2);
    expect(refused.errors).toContain('RANKLOG_SHARDS is 1 there and 4 here');
    expect(refused.errors).toContain('end all processes, delete all keys in Redis that begin with');
    await deleteKeys(instance.redis, `${instance.name}:*`);
    const early = instance.spawn('start');
    expect(await early.ended).toBe(2);
    expect(early.errors).toContain('ranklog topics --adopt');
    await instance.run('topics', '--adopt');
    await produce(EVENTS); // while nothing runs
    await instance.start();
    await instance.published(2 * EVENTS);
    expect(await players()).toEqual(names(2 * EVENTS));
    expect(await instance.redis.get(`${instance.name}:shards`)).toBe('4');
    const all = await instance.reader.standings('arena', { limit: 3 * EVENTS });
    expect(all.entries).toHaveLength(2 * EVENTS);
  });
});

describe('a ranklog without topics, without RANKLOG_GROUP and with an empty Redis', () => {
  const name = `test-${randomUUID().slice(0, 8)}`;
  const env = { RANKLOG_TOPIC_PREFIX: name, RANKLOG_REDIS_PREFIX: name, RANKLOG_GROUP: '' };

  it('has the identity of a first start: nothing waits for a definitions topic that does not exist', async () => {
    const { settings } = loadSettings({ ...process.env, ...env });
    const connection = new KafkaConnection(settings, SILENT);
    const redis = new Redis(settings.redisUrl);
    try {
      await connection.admin.connect();
      // fails if it waits for the topic
      const { group } = await readIdentity(redis, connection, settings);
      expect(group).toBe(name);
    } finally {
      await connection.admin.disconnect();
      redis.disconnect();
    }
  });
});
