import { afterEach, describe, expect, it } from '@jest/globals';
import {
  compareWithOfficialTables,
  FOOTBALL_BOARDS,
  FOOTBALL_FILE,
  footballLines,
} from '../support/football.js';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { expectExactChains } from './score-topic.js';

/** The warnings and errors that a service logged after the line with `mark`. */
function problemsSince(mark: string, { errors }: RanklogProcess): string[] {
  const lines = errors.slice(errors.indexOf(mark)).split('\n').slice(1, -1);
  return lines.filter((line) => (JSON.parse(line) as { level: number }).level >= 40);
}

const LINES = footballLines().slice(0, 4_000);
const HALF = LINES.length / 2;
const QUARTER = LINES.length / 4;
/** So that work goes on while events are sent. */
const BATCH = 200;

describe('ingest under load', () => {
  let instance: TestInstance | undefined;
  afterEach(() => instance?.remove());

  it('ends by SIGTERM with exit code 0 before its deadline, and the next instance loses and repeats nothing', async () => {
    const total = footballLines().length;
    instance = await TestInstance.create(FOOTBALL_BOARDS, {
      env: { RANKLOG_SESSION_TIMEOUT: '10s' }, // a lost session would be a warning
    });
    const service = await instance.start();
    const producing = instance.spawn('produce', FOOTBALL_FILE);
    await until(async () => (await instance!.publishedCount()) > 500, 'something is published');
    service.kill('SIGTERM');
    expect(await service.ended).toBe(0);
    expect(service.errors).toContain('"stopped"');
    expect(problemsSince('SIGTERM', service)).toEqual([]);
    expect(await instance.publishedCount()).toBeLessThan(total);
    expect(await producing.ended).toBe(0);

    await instance.start();
    await instance.published(total);
    await expectExactChains(instance, total);
  });

  it('moves partitions between instances that start and end, and publishes every result once', async () => {
    const lines = footballLines();
    const total = lines.length;
    instance = await TestInstance.create(FOOTBALL_BOARDS, { env: { RANKLOG_SHARDS: '2' } });
    let [stays, leaves] = [await instance.start(), await instance.start()];
    const share = Math.ceil(total / 3);
    for (const [round, signal] of (['SIGTERM', 'SIGKILL', 'SIGTERM'] as const).entries()) {
      const producing = instance.produce(lines.slice(round * share, (round + 1) * share), BATCH);
      await instance.published(round * share + 500);
      leaves.kill(signal);
      await leaves.ended;
      [stays, leaves] = [await instance.start(), stays];
      await producing;
    }
    await instance.published(total);
    await expectExactChains(instance, total);
    expect(await compareWithOfficialTables(instance.reader)).toEqual({ figures: 27, order: 22 });
  }, 300_000);
});

describe('a shutdown that can not finish', () => {
  let instance: TestInstance;
  let proxy: TcpProxy;
  afterEach(async () => {
    await instance.remove();
    await proxy.close();
  });

  /** A service behind a frozen proxy. It has published half of the events. */
  const frozen = async (what: 'Redis' | 'Kafka', shutdownTimeout: string) => {
    instance = await TestInstance.create(FOOTBALL_BOARDS);
    const direct = { ...instance.env };
    const redis = new URL(process.env['REDIS_URL'] ?? '');
    proxy =
      what === 'Kafka'
        ? await KafkaProxy.toBroker()
        : await TcpProxy.to({ host: redis.hostname, port: Number(redis.port) });
    if (what === 'Kafka') instance.env['KAFKA_BROKERS'] = `127.0.0.1:${proxy.port}`;
    else instance.env['REDIS_URL'] = `redis://127.0.0.1:${proxy.port}`;
    instance.env['RANKLOG_SHUTDOWN_TIMEOUT'] = shutdownTimeout;
    const service = await instance.start();
    Object.assign(instance.env, direct);
    await instance.produce(LINES.slice(0, HALF), BATCH);
    await instance.published(HALF);
    const producing = instance.produce(LINES.slice(HALF, HALF + QUARTER), BATCH);
    await until(async () => (await instance.publishedCount()) > HALF, 'it works');
    proxy.freeze();
    await producing;
    await instance.produce(LINES.slice(HALF + QUARTER), BATCH); // it may have published the others
    return service;
  };
  /** Another instance continues. */
  const expectNothingLost = async () => {
    await proxy.close();
    await instance.start();
    await instance.published(LINES.length);
    await expectExactChains(instance, LINES.length);
  };

  it('is forced by a second SIGTERM, with exit code 1, and nothing is lost or repeated', async () => {
    const service = await frozen('Redis', '60s');
    service.kill('SIGTERM');
    await until(() => service.errors.includes('finishing what is in flight'), 'it is ending');
    const begin = performance.now();
    await until(() => performance.now() - begin > 1_100, 'the next signal counts as a second one');
    service.kill('SIGTERM');
    expect(await service.ended).toBe(1);
    expect(performance.now() - begin).toBeLessThan(30_000);
    expect(service.errors).toContain('SIGTERM again: ending at once');
    await expectNothingLost();
  });

  it.each(['Redis', 'Kafka'] as const)(
    'is forced by the deadline while %s does not answer, with exit code 1, and nothing is lost or repeated',
    async (what) => {
      const service = await frozen(what, '1500ms');
      const begin = performance.now();
      service.kill('SIGTERM');
      expect(await service.ended).toBe(1);
      expect(performance.now() - begin).toBeLessThan(30_000);
      expect(service.errors).toContain('not finished after 1500 ms');
      await expectNothingLost();
    },
  );
});

describe('SIGTERM while the service starts', () => {
  it('ends it at once with exit code 0, though Kafka does not answer', async () => {
    const instance = await TestInstance.create(FOOTBALL_BOARDS);
    const proxy = await KafkaProxy.toBroker();
    try {
      proxy.freeze();
      instance.env['KAFKA_BROKERS'] = `127.0.0.1:${proxy.port}`;
      const service = instance.spawn('start');
      await until(() => proxy.connections > 0, 'it waits for an answer');
      const begin = performance.now();
      service.kill('SIGTERM');
      expect(await service.ended).toBe(0);
      expect(performance.now() - begin).toBeLessThan(20_000); // a start may take 2 minutes
      expect(service.errors).toContain('"stopped"');
    } finally {
      await instance.remove();
      await proxy.close();
    }
  });
});
