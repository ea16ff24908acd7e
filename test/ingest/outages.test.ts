import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { compareWithOfficialTables, FOOTBALL_BOARDS, footballLines } from '../support/football.js';
import { TestInstance, until } from '../support/instance.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { expectExactChains, expectRankChanges } from './score-topic.js';

describe('ingest, while Redis', () => {
  let instance: TestInstance | undefined;
  let proxy: TcpProxy | undefined;
  afterEach(async () => {
    await instance?.remove();
    await proxy?.close();
    instance = proxy = undefined;
  });

  it('is cut off several times, continues', async () => {
    const lines = footballLines();
    const { hostname, port } = new URL(process.env['REDIS_URL'] ?? '');
    proxy = await TcpProxy.to({ host: hostname, port: Number(port) });
    instance = await TestInstance.create(FOOTBALL_BOARDS, {
      env: { REDIS_URL: `redis://127.0.0.1:${proxy.port}` },
    });
    const service = await instance.start();
    const producing = instance.produce(lines);
    for (let cut = 1; cut <= 5; cut++) {
      const before = await instance.publishedCount();
      await until(async () => {
        const published = await instance!.publishedCount();
        return published > before || published >= lines.length;
      }, `more is published before cut ${cut}`);
      proxy.cut();
      await until(
        () => service.errors.split('Redis connection lost').length > cut,
        `the service notices cut ${cut}`,
      );
      proxy.restore();
      await until(
        () => service.errors.split('Redis connection restored').length > cut,
        `the service is back after cut ${cut}`,
      );
      if ((await instance.publishedCount()) >= lines.length) break;
    }
    await producing;
    await instance.published(lines.length);
    await expectExactChains(instance, lines.length);
    expect(await compareWithOfficialTables(instance.reader)).toEqual({ figures: 27, order: 22 });
    expect(service.exitCode).toBeNull();
  });
});

describe('ingest, while Kafka', () => {
  let instance: TestInstance | undefined;
  let folder = '';
  const services = (...args: string[]) => {
    const env: NodeJS.ProcessEnv = { ...process.env, RANKLOG_SERVICES_DIR: folder };
    delete env['KAFKA_BROKERS'];
    delete env['REDIS_URL'];
    const run = spawnSync(process.execPath, ['scripts/services.mjs', ...args], {
      env,
      encoding: 'utf8',
    });
    if (run.status !== 0) throw new Error(run.stderr);
    return run.stdout;
  };
  afterEach(async () => {
    await instance?.remove();
    services('down', '--purge');
    await rm(folder, { recursive: true, force: true });
  });

  it('is killed and restarted, waits and continues', async () => {
    const lines = footballLines();
    const half = Math.floor(lines.length / 2);
    folder = await mkdtemp(path.join(tmpdir(), 'ranklog-services-'));
    services('up');
    const env = JSON.parse(services('env', '--json')) as Record<string, string>;
    const status = JSON.parse(services('status', '--json')) as { kafka: { pid: number } };
    instance = await TestInstance.create(FOOTBALL_BOARDS, {
      env: { ...env, RANKLOG_TEST_OWN_REDIS: '1' },
    });
    const service = await instance.start();
    await instance.produce(lines.slice(0, half));
    await until(async () => (await instance!.publishedCount()) > 0, 'something is published');
    process.kill(status.kafka.pid, 'SIGKILL');
    services('up');
    await instance.produce(lines.slice(half));
    await instance.published(lines.length);
    await expectRankChanges(instance, lines.length);
    expect(service.exitCode).toBeNull();
  }, 300_000);
});

describe('ingest that finds no servers at the start', () => {
  it.each([
    ['KAFKA_BROKERS', '127.0.0.1:1', 'Kafka at 127.0.0.1:1'],
    ['REDIS_URL', 'redis://127.0.0.1:1', 'Redis at redis://127.0.0.1:1'],
  ])('waits, then ends with an error that names %s', async (variable, address, named) => {
    const instance = await TestInstance.create(FOOTBALL_BOARDS);
    try {
      instance.env[variable] = address;
      instance.env['RANKLOG_START_TIMEOUT'] = '5s';
      const service = instance.spawn('start');
      expect(await service.ended).toBe(3);
      expect(service.errors).toContain(`waiting for ${named}`);
      expect(service.errors).toContain(`${named} did not answer within 5 s`);
      expect(service.errors).toContain(`is ${variable} right?`);
    } finally {
      await instance.remove();
    }
  });
});
