import { describe, expect, it } from '@jest/globals';
import { loadSettings } from '../config/settings.js';
import {
  kafkaVersionProblem,
  redisReplicas,
  redisShards,
  redisVersion,
  type Subject,
} from './server-checks.js';

const { settings } = loadSettings({});
const withInfo = (info: string) =>
  ({ settings, redis: { info: () => Promise.resolve(info) } }) as unknown as Subject;
const redisWith = (info: string) => redisVersion(withInfo(info));

describe('the oldest versions', () => {
  it('of Redis is 7.0', async () => {
    await expect(redisWith('# Server\r\nredis_version:6.2.14\r\n')).rejects.toThrow(
      'REDIS_URL: Redis at redis://127.0.0.1:6379 has version 6.2.14; upgrade it to 7.0 or later',
    );
    for (const version of ['7.0.0', '7.0.15', '7.2.4', '8.10.0', '10.0.0'])
      await expect(redisWith(`redis_version:${version}\r\n`)).resolves.toBeUndefined();
    await expect(redisWith('nothing')).rejects.toThrow('INFO lacks redis_version');
  });

  it('of Kafka is 3.9, by the version of its Fetch requests', () => {
    expect(kafkaVersionProblem('KAFKA_BROKERS: Kafka at kafka:9092', 16)).toBe(
      'KAFKA_BROKERS: Kafka at kafka:9092 is older than 3.9; upgrade it',
    );
    expect(kafkaVersionProblem('', 17)).toBeUndefined();
  });
});

it('a primary with two replicas should need one for writes', async () => {
  const primary = 'role:master\r\nconnected_slaves:2\r\n';
  await expect(redisReplicas(withInfo(primary))).resolves.toContain(
    'set "min-replicas-to-write 1" in redis.conf',
  );
  const others = [`${primary}min_slaves_good_slaves:1\r\n`, 'connected_slaves:1\r\n'];
  for (const info of others) await expect(redisReplicas(withInfo(info))).resolves.toBeUndefined();
});

it('each primary of a cluster should have a shard', async () => {
  const nodes = () => [{}, {}, {}];
  const withShards = (shards: number) =>
    ({ settings: { shards }, redis: { isCluster: true, nodes } }) as unknown as Subject;
  await expect(redisShards(withShards(1))).resolves.toContain('RANKLOG_SHARDS is 1, so not all of');
  await expect(redisShards(withShards(3))).resolves.toBeUndefined();
});
