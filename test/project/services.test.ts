import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testKafka } from '../support/kafka-client.js';
import { ServicesFolder } from '../support/project.js';

describe('npm run services', () => {
  let services: ServicesFolder;
  beforeAll(() => {
    services = new ServicesFolder();
  });
  afterAll(() => services.remove());

  it('says how to start servers that are down, and refuses unknown arguments', async () => {
    expect(await services.run(['env'])).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('npm run services -- up'),
    });
    expect((await services.status()).exitCode).toBe(1);
    expect((await services.run(['restart'])).exitCode).toBe(2);
    expect((await services.run(['up', '--fast'])).exitCode).toBe(2);
    expect(await services.run(['up', '--kafka', '2.8'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('use 4.1 or 3.9'),
    });
  });

  it('only checks servers that the environment names, and names the one that does not answer', async () => {
    const env = { KAFKA_BROKERS: '127.0.0.1:1', REDIS_URL: 'redis://:secret@127.0.0.1:1' };
    const { exitCode, stderr } = await services.run(['up'], { ...process.env, ...env });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/(KAFKA_BROKERS|REDIS_URL) is set to .*127\.0\.0\.1:1, which does not/);
    expect(stderr).not.toContain('secret');
  });

  it('starts both servers, says where they are, does nothing the second time, and starts a killed Kafka with its data', async () => {
    // Two commands at once, to test the lock between them.
    const ups = await Promise.all([services.run(['up']), services.run(['up'])]);
    for (const up of ups) expect(up).toMatchObject({ exitCode: 0, stdout: '' });
    const first = await services.status();
    expect(first).toMatchObject({
      exitCode: 0,
      kafka: { how: 'native', pid: services.pid('kafka'), answers: true },
      redis: { how: 'native', pid: services.pid('redis'), answers: true },
    });
    expect((await services.run(['env'])).stdout).toBe(
      `KAFKA_BROKERS=${first.kafka.address ?? ''}\nREDIS_URL=${first.redis.address ?? ''}\n`,
    );
    expect((await services.run(['up'])).exitCode).toBe(0);
    expect(await services.status()).toEqual(first);

    const admin = testKafka({ brokers: [first.kafka.address ?? ''] }).admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic: 'kept' }] });
    process.kill(services.pid('kafka'), 'SIGKILL');
    expect(await services.status()).toMatchObject({ exitCode: 1, kafka: { how: 'down' } });
    expect((await services.run(['up'])).exitCode).toBe(0);
    const after = await services.status();
    expect(after.kafka.address).toBe(first.kafka.address);
    expect(after.redis).toEqual(first.redis);
    expect(await admin.listTopics()).toContain('kept');
    await admin.disconnect();
  });

  it('never ends a foreign process that has got the pid of a server that has died', async () => {
    const foreign = spawn('sleep', ['600']);
    await once(foreign, 'spawn');
    const redis = services.pid('redis');
    const [, started] = readFileSync(services.path('redis.pid'), 'utf8').split('\n');
    writeFileSync(services.path('redis.pid'), `${foreign.pid ?? 0}\n${started ?? ''}\n`);
    try {
      process.kill(redis, 'SIGKILL');
      expect((await services.status()).redis).toMatchObject({ how: 'down', answers: false });
      expect((await services.run(['down'])).exitCode).toBe(0);
      expect(foreign.exitCode ?? foreign.signalCode).toBeNull();
    } finally {
      foreign.kill();
    }
  });

  it('shows the end of the log of a Kafka that does not come up, and chooses a new port for a Redis whose old one is taken', async () => {
    const { redis } = JSON.parse(readFileSync(services.path('state.json'), 'utf8')) as {
      redis: { port: number };
    };
    const squatter = createServer().listen(redis.port, '127.0.0.1');
    await once(squatter, 'listening');
    writeFileSync(services.path('kafka-data-4.1', 'meta.properties'), 'version=none\n');
    try {
      const { exitCode, stderr } = await services.run(['up']);
      expect(exitCode).toBe(1);
      expect(stderr).toContain(`last lines of ${services.path('logs', 'kafka.log')}`);
      expect(stderr).toContain('meta.properties');
      const status = await services.status();
      expect(status.redis.answers).toBe(true);
      expect(status.redis.address).not.toContain(`:${redis.port}`);
    } finally {
      squatter.close();
    }
  });

  it('stops both servers, and removes their data on demand', async () => {
    expect((await services.run(['down', '--purge'])).exitCode).toBe(0);
    expect(await services.status()).toMatchObject({
      exitCode: 1,
      kafka: { how: 'down' },
      redis: { how: 'down' },
    });
    expect(() => readFileSync(services.path('kafka-data-4.1', 'meta.properties'))).toThrow();
  });

  it('uses docker compose if a Docker engine answers, and shows the output of docker compose if that fails', async () => {
    const calls = services.path('docker-calls');
    services.docker(
      `echo "$*" >> ${calls}; case "$*" in *" up "*) exit 17;; *logs*) echo 'kafka-1 | no space left';; esac`,
    );
    const { exitCode, stderr } = await services.run(['up', '--kafka', '3.9']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('kafka-1 | no space left');
    expect(readFileSync(calls, 'utf8')).toMatch(
      /^compose -p ranklog-[0-9a-f]{8}-kafka-3-9 up --detach --wait --wait-timeout 180 kafka redis$/m,
    );
  });
});
