import { afterEach, describe, expect, it } from '@jest/globals';
import { TestInstance, until } from '../support/instance.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { readDeadLetters, readRankChanges } from '../support/results.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { configure } from '../support/kafka-client.js';
import { BOARDS, ScoreTopic } from './score-topic.js';

const event = (player: number) =>
  JSON.stringify({ board: 'arena', playerId: `player-${player}`, delta: 1 });

describe('an instance', () => {
  let instance: TestInstance;
  let proxy: TcpProxy | undefined;
  afterEach(async () => {
    await instance.remove();
    await proxy?.close();
    proxy = undefined;
  });

  const create = async (stallTimeout: string, partitions = 2) => {
    const env = { RANKLOG_STALL_TIMEOUT: stallTimeout, RANKLOG_SHUTDOWN_TIMEOUT: '1s' };
    instance = await TestInstance.create(BOARDS, { partitions, env });
  };
  const throughRedisProxy = async () => {
    const { hostname, port } = new URL(process.env['REDIS_URL'] ?? '');
    proxy = await TcpProxy.to({ host: hostname, port: Number(port) });
    instance.env['REDIS_URL'] = `redis://127.0.0.1:${proxy.port}`;
    return proxy;
  };
  const send = (partition: number, ...values: string[]) =>
    new ScoreTopic(instance).sendMessages(values.map((value) => ({ partition, value })));
  const stallTimeoutPasses = async () => {
    const begin = performance.now();
    await until(() => performance.now() - begin > 13_000, 'the timeout has passed');
  };

  it('ends with exit code 1 if Redis does not answer, and logs the partition, the time and the error', async () => {
    await create('13s'); // two commands fail after 5 s each: the second one at the release
    const redis = await throughRedisProxy();
    const service = await instance.start();
    await send(0, event(0));
    await instance.published(1);
    redis.freeze();
    await send(0, event(1));
    expect(await service.ended).toBe(1);
    expect(service.errors).toMatch(
      /score-events\/[01] \(\w+\) has made no progress for \d+ s; last error: Command timed out/,
    );
    redis.thaw();
    await instance.start();
    await instance.published(2);
    expect(await readRankChanges(instance.kafka, instance.topics)).toHaveLength(2);
  });

  it('ends with exit code 1 if Kafka does not answer, and logs the time', async () => {
    await create('8s');
    const kafka = await KafkaProxy.toBroker();
    proxy = kafka;
    instance.env['KAFKA_BROKERS'] = kafka.broker;
    const service = await instance.start();
    await send(0, event(0));
    await instance.published(1);
    kafka.freeze();
    expect(await service.ended).toBe(1);
    expect(service.errors).toMatch(/nothing was fetched from .*score-events for \d+ s|has made no/);
  });

  it('continues if one of its partitions has stopped for good, and ends if all have', async () => {
    await create('8s');
    const service = await instance.start();
    await send(1, event(0));
    await instance.published(1);
    await configure(instance, instance.topics.rankChanges, { 'max.message.bytes': '150' });
    await send(0, event(1));
    await until(() => service.errors.includes('score-events/0 stops:'), 'partition 0 stops');
    await stallTimeoutPasses();
    await send(1, 'no event');
    await until(
      async () => (await readDeadLetters(instance.kafka, instance.topics)).length === 1,
      'the other partition goes on',
    );
    expect(service.exitCode).toBeNull();
    await send(1, event(2));
    expect(await service.ended).toBe(1);
    expect(service.errors).toContain('score-events in this process are stopped (');
  });

  it('does not end while it waits for other partitions to recover', async () => {
    await create('8s');
    const { redis, name } = instance;
    const first = await instance.start();
    await send(0, event(0));
    await send(1, event(1));
    await instance.published(2);
    first.kill('SIGTERM');
    await first.ended;
    await redis.unlink(...(await redis.keys(`${name}:*`)));
    await new ScoreTopic(instance).cut(0, 1);
    await send(1, event(2));
    const service = await instance.start();
    await until(() => service.errors.includes('waits until others'), 'partition 1 waits');
    await stallTimeoutPasses();
    expect(service.errors).toContain('score-events/0 stops:');
    expect(service.exitCode).toBeNull();
  });

  it('does not end without records, or without a partition', async () => {
    await create('8s', 1);
    const services = [await instance.start(), await instance.start()];
    await stallTimeoutPasses();
    expect(services.map(({ exitCode }) => exitCode)).toEqual([null, null]);
    await send(0, event(0));
    await instance.published(1);
  });

  it('does not end because Redis is slow', async () => {
    await create('8s', 1);
    instance.env['RANKLOG_SESSION_TIMEOUT'] = '10s';
    const redis = await throughRedisProxy();
    const service = await instance.start();
    let sent = 1;
    await send(0, event(0));
    await instance.published(sent);
    redis.delay(300);
    const begin = performance.now();
    while (performance.now() - begin < 13_000)
      if (sent - (await instance.publishedCount()) < 5) await send(0, event(sent++));
    await instance.published(sent);
    expect(service.exitCode).toBeNull();
  });
});
