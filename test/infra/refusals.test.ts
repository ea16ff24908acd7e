import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createServer, type Server } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Finding } from '../../src/infra/server-checks.js';
import { TestCa } from '../support/certificates.js';
import { TestInstance, until } from '../support/instance.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { RedisServer } from '../support/redis-server.js';

const BOARDS = 'boards: { arena: { columns: [{ name: score }] } }';
const SECRET = 'hunter2-secret';
const tokens = path.join(tmpdir(), `ranklog-tokens-${process.pid}.yaml`);
const GROUP_AUTHORIZATION_FAILED = 30;
const TOPIC_AUTHORIZATION_FAILED = 29;
/**
 * Long for a busy machine, short beside RANKLOG_START_TIMEOUT, for which a start waits for a server
 * that does not answer.
 */
const MOST_SECONDS = 60;
const INVALID = 'WRONGPASS invalid username-password pair or user is disabled.';

/** A server that speaks TLS, with a certificate that nobody trusts. */
async function startTlsServer(): Promise<{ server: Server; port: number }> {
  const ca = new TestCa();
  const { key, cert } = ca.issue('server', 'IP:127.0.0.1');
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) });
  ca.remove();
  server.on('tlsClientError', () => undefined);
  server.on('connection', (socket: Socket) => socket.on('error', () => undefined));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

describe('a start and "ranklog doctor"', () => {
  let instance: TestInstance;
  let initial: NodeJS.ProcessEnv;
  let redis: RedisServer;
  let tls: Awaited<ReturnType<typeof startTlsServer>>;
  let kafka: KafkaProxy;
  const run = async (env: NodeJS.ProcessEnv, ...args: string[]) => {
    Object.assign(instance.env, initial, env);
    const process = instance.spawn(...args);
    await until(() => process.exitCode !== null, 'the process ends', MOST_SECONDS);
    const code = await process.ended;
    const { output, errors } = process;
    expect(output + errors).not.toContain(SECRET);
    return { code, output, errors };
  };
  const findings = async (env: NodeJS.ProcessEnv) => {
    const { code, output } = await run(env, 'doctor', '--json');
    return { code, found: JSON.parse(output) as Finding[] };
  };

  beforeAll(async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 1 });
    initial = {
      ...{
        KAFKA_SSL: 'false',
        KAFKA_SASL_MECHANISM: '',
        KAFKA_SASL_USERNAME: '',
        RANKLOG_VERIFY_REBUILD: 'false',
        RANKLOG_HTTP_HOST: '127.0.0.1',
        RANKLOG_HTTP_TOKENS: '',
      },
      ...instance.env,
      RANKLOG_START_TIMEOUT: '10m',
    };
    redis = await RedisServer.start('--databases', '1');
    await redis.redis.call(
      'ACL',
      'SETUSER',
      'limited',
      'on',
      `>${SECRET}`,
      '~*',
      '+@all',
      '-zadd',
      '-hset',
    );
    const own = [`~${instance.name}:*`, '+@all'];
    await redis.redis.call('ACL', 'SETUSER', 'own', 'on', `>${SECRET}`, ...own);
    await redis.redis.call('ACL', 'SETUSER', 'blind', 'on', `>${SECRET}`, '~*', '+@all', '-info');
    tls = await startTlsServer();
    kafka = await KafkaProxy.toBroker();
  });
  afterAll(async () => {
    await instance.remove();
    await redis.remove();
    await kafka.close();
    tls.server.close();
    rmSync(tokens, { force: true });
  });

  const url = (login = '', protocol = 'redis') => `${protocol}://${login}127.0.0.1:${redis.port}`;
  const kafkaAddress = () => process.env['KAFKA_BROKERS'] ?? '';

  it.each<[name: string, env: () => NodeJS.ProcessEnv, text: () => string]>([
    [
      'a Redis database that does not exist',
      () => ({ REDIS_URL: `${url()}/1` }),
      () =>
        `REDIS_URL: the value does not work with Redis at ${url()}/1 (ERR DB index is out of range); name another database, or raise "databases" of Redis`,
    ],
    [
      'a wrong Redis password',
      () => ({ REDIS_URL: url(`limited:not-${SECRET}@`) }),
      () =>
        `REDIS_URL: the value does not work with Redis at ${url('***@')} (${INVALID}); correct the user and password in redis://USER:PASSWORD@HOST`,
    ],
    [
      'SASL without a user',
      () => ({ KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_PASSWORD: SECRET }),
      () =>
        'KAFKA_SASL_MECHANISM: "plain" needs a user; set KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD, or leave it empty',
    ],
    [
      'SASL to a port without it',
      () => ({
        KAFKA_SASL_MECHANISM: 'plain',
        KAFKA_SASL_USERNAME: 'ada',
        KAFKA_SASL_PASSWORD: SECRET,
      }),
      () =>
        `KAFKA_SASL_MECHANISM: "plain" does not work with Kafka at ${kafkaAddress()} (Request is not valid given the current SASL state); leave it empty, or name a port with SASL`,
    ],
    [
      'Redis with TLS, and a plain URL',
      () => ({ REDIS_URL: `redis://127.0.0.1:${tls.port}` }),
      () =>
        `REDIS_URL: Redis at redis://127.0.0.1:${tls.port} speaks TLS only; begin the URL with rediss://, or name another port`,
    ],
    [
      'Redis without TLS, and a URL with TLS',
      () => ({ REDIS_URL: url('', 'rediss') }),
      () =>
        `REDIS_URL: Redis at ${url('', 'rediss')} speaks no TLS; begin the URL with redis://, or name another port`,
    ],
    [
      'Redis with a certificate that is not trusted',
      () => ({ REDIS_URL: `rediss://127.0.0.1:${tls.port}` }),
      () =>
        `REDIS_SSL_CA: the value does not work with Redis at rediss://127.0.0.1:${tls.port} (unable to verify the first certificate); name the file of the CA of the server`,
    ],
    [
      'Kafka with TLS, and KAFKA_SSL=false',
      () => ({ KAFKA_BROKERS: `127.0.0.1:${tls.port}` }),
      () =>
        `KAFKA_SSL: Kafka at 127.0.0.1:${tls.port} speaks TLS only, and the value is false; set true, or name another port in KAFKA_BROKERS`,
    ],
    [
      'Kafka without TLS, and KAFKA_SSL=true',
      () => ({ KAFKA_SSL: 'true' }),
      () =>
        `KAFKA_SSL: Kafka at ${kafkaAddress()} speaks no TLS, and the value is true; set false, or name another port in KAFKA_BROKERS`,
    ],
    [
      'missing rights in Redis',
      () => ({ REDIS_URL: url(`limited:${SECRET}@`) }),
      () =>
        `REDIS_URL: Redis at ${url('***@')} refuses commands or keys to the user; grant them: ACL SETUSER limited ~${instance.name}:* +hset +zadd`,
    ],
    [
      'missing rights in Kafka',
      () => {
        kafka.clearFaults();
        const executed = false;
        const { fetch, heartbeat } = KAFKA_API;
        kafka.onRequest(heartbeat, { error: GROUP_AUTHORIZATION_FAILED, executed }, { times: 99 });
        kafka.onRequest(fetch, { error: TOPIC_AUTHORIZATION_FAILED, executed }, { times: 99 });
        return { KAFKA_BROKERS: kafka.broker };
      },
      () => {
        const { definitions, rankChanges, leaderChanges, deadLetters, scoreEvents } =
          instance.topics;
        const topics = [definitions, scoreEvents, rankChanges, leaderChanges, deadLetters];
        const missing = [...topics.map((topic) => `--topic ${topic}`), `--group ${instance.name}`];
        const grant = 'kafka-acls --add --allow-principal "User:ANONYMOUS" --operation Read';
        return `KAFKA_BROKERS: Kafka at ${kafka.broker} refuses rights to the user; grant them: ${missing.map((what) => `${grant} ${what}`).join('; ')}`;
      },
    ],
    [
      'a repair without a schedule',
      () => ({ RANKLOG_VERIFY_REBUILD: 'true' }),
      () =>
        'RANKLOG_VERIFY_REBUILD: "true" needs a schedule; set RANKLOG_VERIFY_SCHEDULE, such as "0 4 * * *", or leave it out',
    ],
    [
      'HTTP for others without tokens',
      () => ({ RANKLOG_HTTP_HOST: '0.0.0.0' }),
      () =>
        'RANKLOG_HTTP_TOKENS: there is no file of tokens, so RANKLOG_HTTP_HOST "0.0.0.0" would let others read all boards; name a file, or set RANKLOG_HTTP_HOST to 127.0.0.1',
    ],
    [
      'a file of tokens with a problem',
      () => {
        writeFileSync(tokens, `[{ name: game, token: ${SECRET}, scopes: [write] }]`);
        return { RANKLOG_HTTP_TOKENS: tokens };
      },
      () =>
        `RANKLOG_HTTP_TOKENS: ${tokens}: entry 1: token must be a text of 16 or more ASCII letters, digits or signs; write a list of { name: TEXT, token: 16 OR MORE LETTERS, DIGITS OR SIGNS (or sha256: ITS SHA-256 IN HEX), scopes: [read, write, operate] }`,
    ],
  ])('refuse %s, without waiting for RANKLOG_START_TIMEOUT', async (_name, env, text) => {
    const settings = env();
    const [{ code, errors }, doctor] = await Promise.all([
      run(settings, 'start'),
      run(settings, 'doctor'),
    ]);
    expect(errors.split('\n').filter((line) => line.startsWith('ranklog: '))).toEqual([
      `ranklog: ${text()}`,
    ]);
    expect(code).toBe(2);
    expect(await redis.redis.keys('*')).toEqual([]);
    expect(doctor.code).toBe(2);
    expect(doctor.output + doctor.errors).toContain(text());
  });

  it('refuse a Redis that evicts keys', async () => {
    await redis.redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const text = `REDIS_URL: Redis at ${url()} has maxmemory-policy allkeys-lru, so it deletes parts of boards when it is full; set "maxmemory-policy noeviction" in redis.conf`;
    const { code, errors } = await run({ REDIS_URL: url() }, 'start');
    expect([code, errors]).toEqual([2, expect.stringContaining(`ranklog: ${text}\n`)]);
    const { code: doctor, found } = await findings({ REDIS_URL: url() });
    expect(doctor).toBe(2);
    expect(found).toContainEqual({ check: 'Redis eviction', outcome: 'refused', text });
    await redis.redis.config('SET', 'maxmemory-policy', 'noeviction');
  });

  it('warn of a Redis without persistence, and of what cannot be checked', async () => {
    await redis.redis.config('SET', 'appendonly', 'no');
    const text = `REDIS_URL: Redis at ${url()} has no persistence and no replica, so a restart empties it, and boards are stale until they are built again from the log; set "appendonly yes" in redis.conf`;
    const bare = await findings({ REDIS_URL: url() });
    expect(bare.code).toBe(0);
    expect(bare.found).toContainEqual({ check: 'Redis persistence', outcome: 'warning', text });
    Object.assign(instance.env, initial, { REDIS_URL: url() });
    const service = await instance.start();
    expect(service.errors).toContain(JSON.stringify(text));
    service.kill('SIGTERM');
    await service.ended;
    await redis.redis.flushall();
    const blind = await findings({ REDIS_URL: url(`blind:${SECRET}@`) });
    expect(blind.found).toContainEqual({
      ...{ check: 'Redis version', outcome: 'warning' },
      text: `Redis version can't be checked: NOPERM this user has no permissions to run the 'info' command`,
    });
    await redis.redis.config('SET', 'appendonly', 'yes');
  });

  it('accept a Redis user who has the keys of ranklog alone', async () => {
    const { found } = await findings({ REDIS_URL: url(`own:${SECRET}@`) });
    expect(found).toContainEqual({ check: 'Redis rights', outcome: 'ok', text: '' });
  });

  it('doctor makes all checks, those of a server only if it answers, and changes nothing', async () => {
    const keys = async () => (await instance.redis.keys(`${instance.name}:*`)).sort();
    const before = await keys();
    const all = await findings({});
    expect(all.code).toBe(0);
    expect(all.found.map(({ check, outcome }) => [check, outcome])).toEqual(
      [
        'Redis connection',
        'Kafka connection',
        'Redis version',
        'Redis eviction',
        'Redis persistence',
        'Redis replicas',
        'Redis shards',
        'Redis rights',
        'Kafka version and rights',
        'Topics',
        'Score log',
        'Identity',
        'Definitions',
        'Closing windows',
        'Boards file',
        'HTTP tokens',
      ].map((check) => [check, 'ok']),
    );
    expect(await keys()).toEqual(before);
    const text = await run({}, 'doctor');
    expect(text.output).toMatch(/^check +outcome +what to do\nRedis connection +ok\n/);
    const none = await findings({ REDIS_URL: 'redis://127.0.0.1:1', RANKLOG_START_TIMEOUT: '1s' });
    expect(none.code).toBe(3);
    expect(none.found.filter(({ check }) => check.startsWith('Redis'))).toEqual([
      {
        ...{ check: 'Redis connection', outcome: 'unreachable' },
        text: expect.stringContaining('Redis at redis://127.0.0.1:1 did not answer within 1 s'),
      },
    ]);
    const lost = await findings({ RANKLOG_BOARDS: '/none.yaml' });
    expect(lost.code).toBe(2);
    const refused = lost.found.filter(({ outcome }) => outcome !== 'ok');
    expect(refused.map(({ check }) => check)).toEqual(['Boards file']);
    await instance.admin.deleteTopics({ topics: [instance.topics.deadLetters] });
    const missing = await findings({});
    expect(missing.code).toBe(2);
    expect(missing.found).toContainEqual({
      ...{ check: 'Topics', outcome: 'refused' },
      text: `there is no topic ${instance.topics.deadLetters}; create what is missing with "ranklog topics", unless the topic prefix is wrong`,
    });
    await instance.run('topics');
  });
});
