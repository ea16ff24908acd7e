import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RankChangeSubscriber, ScoreProducer, type RankChange } from '#client';
import { COMMANDS } from '../../libs/board-store/layout/redis-rights.js';
import type { Role } from '../../src/config/roles.js';
import { loadSettings } from '../../src/config/settings.js';
import { withGroup } from '../../src/infra/identity.js';
import { KafkaConnection } from '../../src/infra/kafka.js';
import { SILENT } from '../../src/infra/logger.js';
import {
  kafkaRights,
  missingAnnouncerRights,
  type Subject,
} from '../../src/infra/server-checks.js';
import { closingProblems } from '../../src/infra/topics.js';
import { TestCa, type KeyPair } from '../support/certificates.js';
import { freePort } from '../support/free-port.js';
import { RanklogProcess, until } from '../support/instance.js';
import { testKafka } from '../support/kafka-client.js';
import { RedisServer } from '../support/redis-server.js';
import { kafkaGrants, redisCommands, type Grant } from './documented-rights.js';
import { SecureKafka } from './secure-kafka.js';

const BOARDS = 'boards: { arena: { columns: [{ name: score }] } }';
const SECRET = 'hunter2';
const password = (user: string) => `${SECRET}-${user}`;
const AUTHORIZATION = { authorization: `Bearer ${password('service-token')}` };
const TOKENS = `[{ name: all, token: ${password('service-token')}, scopes: [read, write, operate] }]`;
const ROLES: readonly Role[] = ['reconciliation', 'ingest', 'query'];
const LOGINS = ['ranklog-ingest', 'ranklog-reconciliation', 'ranklog-operator', 'game', 'profile'];
const USERS = ['ranklog-query', ...LOGINS];

/** The user of the role query has a client certificate. */
const grantsIn = (user: string) =>
  user === 'ranklog-query' ? kafkaGrants(user, `User:CN=${user},O=Test`) : kafkaGrants(user);

/** What the role reconciliation needs only for boards with closing windows. */
const isForAnnouncements = ({ command }: Grant) => / ranklog[.-]period/.test(command);

const event = (playerId: string, delta = 1, board = 'arena') => ({ board, playerId, delta });

describe('ranklog with the rights that docs/security.md lists', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'ranklog-security-'));
  const ca = new TestCa();
  const processes: RanklogProcess[] = [];
  let kafka: SecureKafka;
  let redis: Awaited<ReturnType<typeof startRedis>>;
  let env: Record<'ingest' | 'reconciliation' | 'query' | 'operator', NodeJS.ProcessEnv>;
  /** Output that no process wrote: answers over HTTP. */
  let answers = '';

  const file = (name: string, content: string) => {
    const place = path.join(folder, name);
    writeFileSync(place, content);
    return place;
  };
  const login = (mechanism: string, user: string) => ({
    KAFKA_SASL_MECHANISM: mechanism,
    KAFKA_SASL_USERNAME: user,
    KAFKA_SASL_PASSWORD_FILE: file(user, `${password(user)}\n`),
  });
  /** A Kafka client of another service. */
  const clientOf = (username: string) =>
    testKafka({
      brokers: [kafka.address('sasl')],
      ssl: { ca: readFileSync(ca.cert) },
      sasl: { mechanism: 'scram-sha-512', username, password: password(username) },
    });
  const spawn = (who: keyof typeof env, ...args: string[]) => {
    const child = new RanklogProcess(args, env[who]);
    processes.push(child);
    return child;
  };
  const run = async (...args: string[]) => {
    const child = spawn('operator', ...args);
    return { code: await child.ended, out: child.output, err: child.errors };
  };
  const start = async (role: Role) => {
    const service = spawn(role, 'start', '--roles', role);
    await until(
      () => service.errors.includes('"running:') || service.exitCode !== null,
      'the service runs',
    );
    expect([service.exitCode, service.exitCode === null || service.errors]).toEqual([null, true]);
    return service;
  };
  const get = async (url: string, init?: RequestInit) => {
    const response = await fetch(url, init);
    const body = await response.text();
    answers += JSON.stringify([...response.headers]) + body;
    expect([response.status, body]).toEqual([200, body]);
    return body;
  };

  beforeAll(async () => {
    const logins = Object.fromEntries(LOGINS.map((user) => [user, password(user)]));
    const certificate = ca.issue('ranklog-query');
    kafka = await SecureKafka.start(ca, logins);
    const acl = USERS.flatMap(grantsIn).map((grant) => grant.acl);
    await kafka.admin.createAcls({ acl });
    redis = await startRedis(ca);
    for (const command of redisCommands(password('redis')))
      await redis.redis.call('ACL', ...command.slice(1));
    env = await environments(certificate);
  });
  afterAll(async () => {
    for (const child of processes) child.kill('SIGKILL');
    await Promise.all(processes.map(({ ended }) => ended));
    await kafka.remove();
    await redis.remove();
    ca.remove();
    rmSync(folder, { recursive: true });
  });

  /**
   * Each role logs in to Kafka in another way, and has its secrets from the environment or from
   * files.
   */
  async function environments(certificate: KeyPair) {
    const url = `rediss://ranklog:${password('redis')}@127.0.0.1:${redis.tlsPort}`;
    const common = {
      ...process.env,
      REDIS_URL: undefined,
      RANKLOG_BOARDS: file('boards.yaml', BOARDS),
      RANKLOG_PARTITIONS: '2',
      RANKLOG_START_TIMEOUT: '2m',
      RANKLOG_LOG_LEVEL: 'debug',
      RANKLOG_LOG_FORMAT: 'json',
      KAFKA_BROKERS: kafka.address('sasl'),
      KAFKA_SSL: 'true',
      KAFKA_SSL_CA: ca.cert,
      REDIS_SSL_CA: ca.cert,
      REDIS_URL_FILE: file('redis-url', `${url}\n`),
    };
    return {
      ingest: { ...common, ...login('scram-sha-512', 'ranklog-ingest') },
      reconciliation: { ...common, ...login('plain', 'ranklog-reconciliation') },
      query: {
        ...common,
        RANKLOG_QUERY_WRITES: 'true',
        RANKLOG_HTTP_TOKENS: file('tokens.yaml', TOKENS),
        RANKLOG_HTTP_PORT: String(await freePort()),
        KAFKA_BROKERS: kafka.address('mtls'),
        KAFKA_SSL_CERT: certificate.cert,
        KAFKA_SSL_KEY: certificate.key,
        REDIS_SSL_CERT: certificate.cert,
        REDIS_SSL_KEY: certificate.key,
        REDIS_URL_FILE: undefined,
        REDIS_URL: url,
      },
      operator: {
        ...common,
        KAFKA_SASL_MECHANISM: 'scram-sha-512',
        KAFKA_SASL_USERNAME: 'ranklog-operator',
        KAFKA_SASL_PASSWORD: password('ranklog-operator'),
      },
    };
  }

  it('which are the commands that the code uses in Redis', () => {
    const [, grant] = redisCommands('');
    const rights = COMMANDS.map((command) => `+${command.toLowerCase()}`).join(' ');
    expect(grant?.join(' ')).toBe(`ACL SETUSER ranklog ~ranklog:* ${rights}`);
    const lines = readFileSync('docs/secured.md', 'utf8').split('\n');
    expect(lines).toContain(`user ranklog on >$REDIS ~ranklog:* ${rights}`);
  });

  it('does its work, and asks for nothing else', async () => {
    expect(await run('topics')).toMatchObject({ code: 0 });
    const running: RanklogProcess[] = [];
    for (const role of ROLES) running.push(await start(role));
    const changes: RankChange[] = [];
    const profile = new RankChangeSubscriber({
      kafka: clientOf('profile'),
      groupId: 'profile',
      fromBeginning: true,
    });
    await profile.start((change) => void changes.push(change));
    const game = new ScoreProducer({ kafka: clientOf('game'), transactionalId: 'game-1' });
    await game.connect();
    await game.send([event('ada'), event('bob', 2)], { transaction: true });
    await game.send(event('eve', 1, 'no-board'));
    const outcome = await game.sendAndWait(event('ada', 5), { timeoutMs: 60_000 });
    expect(outcome).toMatchObject({ status: 'ranked' });
    await game.disconnect();
    await until(() => changes.length >= 3, 'the subscriber has the rank changes');
    await profile.stop();

    const http = `http://127.0.0.1:${env.query['RANKLOG_HTTP_PORT'] ?? ''}`;
    await get(`${http}/v1/boards/arena/events?wait=rank`, {
      method: 'POST',
      headers: { ...AUTHORIZATION, 'content-type': 'application/json' },
      body: JSON.stringify({ playerId: 'eve', delta: 9 }),
    });
    for (const page of ['/v1/boards/arena', '/v1/status'])
      await get(http + page, { headers: AUTHORIZATION });
    for (const { operations } of running)
      for (const page of ['/health/ready', '/metrics']) await get(operations + page);
    for (const args of [
      ['boards', 'apply', '--yes'],
      ['boards', 'rebuild', 'arena'],
      ['boards', 'verify'],
      ['standings', 'arena'],
      ['explain', 'arena', 'ada'],
      ['dead-letters', 'list'],
      ['status', '--wait', '30'],
      ['config'],
    ])
      expect([args, await run(...args)]).toMatchObject([args, { code: 0 }]);
    await run('dead-letters', 'retry', '--yes'); // which no board takes
    for (const role of ROLES) {
      const doctor = spawn(role, 'doctor', '--json', '--roles', role);
      expect([await doctor.ended, doctor.output + doctor.errors]).toEqual([0, doctor.output]);
    }
    const log = await redis.redis.call('ACL', 'LOG');
    expect({ kafka: kafka.takeRefusals(), redis: log }).toEqual({ kafka: [], redis: [] });
  });

  it.each(ROLES)('tells the role %s which of its rights in Kafka are missing', async (role) => {
    const settings = await withGroup(loadSettings(env[role]).settings, undefined);
    const connection = new KafkaConnection(settings, SILENT);
    const refusal = () =>
      kafkaRights({ settings, roles: [role], connection } as unknown as Subject).then(
        () => '',
        (error: unknown) => String(error),
      );
    const server = `SettingsError: KAFKA_BROKERS: Kafka at ${settings.kafkaBrokers.join(',')}`;
    const grants = grantsIn(`ranklog-${role}`).filter((grant) => !isForAnnouncements(grant));
    const says = (missing: readonly Grant[]) => {
      const commands = missing.map(({ command }) => command).join('; ');
      const text = `${server} refuses rights to the user; grant them: ${commands}`;
      const expected = missing.length > 0 ? text : '';
      return until(async () => (await refusal()) === expected, `it says: ${expected}`, 10);
    };
    for (const grant of grants) {
      await kafka.admin.deleteAcls({ filters: [grant.acl] });
      await says([grant]);
      await kafka.admin.createAcls({ acl: [grant.acl] });
    }
    await says([]);
    await kafka.admin.deleteAcls({ filters: grants.map(({ acl }) => acl) });
    await says(grants);
    await kafka.admin.createAcls({ acl: grants.map(({ acl }) => acl) });
    await says([]);
  });

  it('tells the role reconciliation which rights for announcements are missing', async () => {
    const settings = await withGroup(loadSettings(env.reconciliation).settings, undefined);
    const connection = new KafkaConnection(settings, SILENT);
    const grants = grantsIn('ranklog-reconciliation').filter(isForAnnouncements);
    expect(grants).toHaveLength(2);
    const says = (missing: readonly Grant[]) => {
      const commands = missing.map(({ command }) => command).join('; ');
      const head =
        'Kafka refuses rights to the user, so no result of a closing window is announced';
      const expected = missing.length > 0 ? `${head}; grant them: ${commands}` : undefined;
      const isSaid = async () =>
        (await missingAnnouncerRights({ settings, connection })) === expected;
      return until(isSaid, `it says: ${String(expected)}`, 10);
    };
    await says([]);
    for (const grant of grants) {
      await kafka.admin.deleteAcls({ filters: [grant.acl] });
      await says([grant]);
      await kafka.admin.createAcls({ acl: [grant.acl] });
    }
    await kafka.admin.deleteAcls({ filters: grants.map(({ acl }) => acl) });
    await says(grants);
    await kafka.admin.createAcls({ acl: grants.map(({ acl }) => acl) });
    await says([]);
  });

  it('lets operators announce results, and the role query see for what a window waits', async () => {
    const connectionOf = async (who: 'operator' | 'query') => {
      const settings = await withGroup(loadSettings(env[who]).settings, undefined);
      return { settings, connection: new KafkaConnection(settings, SILENT) };
    };
    expect(await missingAnnouncerRights(await connectionOf('operator'))).toBeUndefined();
    const { admin, topics } = (await connectionOf('query')).connection;
    await admin.connect();
    try {
      expect(await closingProblems(admin, topics, ['arena'])).toEqual([]);
    } finally {
      await admin.disconnect();
    }
  });

  it.each<[name: string, who: Role, env: () => NodeJS.ProcessEnv, text: () => string | RegExp]>([
    [
      'no CA of Kafka',
      'ingest',
      () => ({ KAFKA_SSL_CA: undefined }),
      () =>
        `KAFKA_SSL_CA: the value does not work with Kafka at ${kafka.address('sasl')} (Connection error: unable to verify the first certificate); name the file of the CA of the server`,
    ],
    [
      'an address that is not in the certificate of Kafka',
      'ingest',
      () => ({ KAFKA_BROKERS: kafka.address('sasl').replace('127.0.0.1', 'localhost') }),
      () =>
        /KAFKA_BROKERS: the value does not work with Kafka at localhost:\d+ \(Connection error: .*altnames.*\); renew its certificate or use a name in it/,
    ],
    [
      'no client certificate for Kafka',
      'query',
      () => ({ KAFKA_SSL_CERT: undefined, KAFKA_SSL_KEY: undefined }),
      () =>
        /KAFKA_SSL_CERT: the value does not work with Kafka at 127.0.0.1:\d+ \(\w+ alert [a-z ]+\); name a certificate that the server accepts/,
    ],
    [
      'no login to Kafka',
      'ingest',
      () => ({ KAFKA_SASL_MECHANISM: undefined }),
      () =>
        `KAFKA_SASL_MECHANISM: "" does not work with Kafka at ${kafka.address('sasl')} (The broker does not support the requested SASL mechanism); use one of sasl.enabled.mechanisms of Kafka`,
    ],
    [
      'a wrong password for Kafka',
      'ingest',
      () => ({ KAFKA_SASL_PASSWORD_FILE: file('wrong', `${SECRET}-wrong`) }),
      () =>
        /KAFKA_SASL_USERNAME: "ranklog-ingest" does not work with Kafka at .* \(SASL SCRAM SHA512 authentication failed: .*\); correct it or its password/,
    ],
    [
      'a user without rights in Kafka',
      'query',
      () => ({ KAFKA_BROKERS: kafka.address('sasl'), ...login('scram-sha-512', 'profile') }),
      () =>
        /refuses rights to the user; grant them: kafka-acls --add .*"User:profile" --operation Read/,
    ],
    [
      'no CA of Redis',
      'ingest',
      () => ({ REDIS_SSL_CA: undefined }),
      () =>
        `REDIS_SSL_CA: the value does not work with Redis at rediss://***@127.0.0.1:${redis.tlsPort} (self-signed certificate in certificate chain); name the file of the CA of the server`,
    ],
    [
      'no client certificate for Redis',
      'ingest',
      () => ({}),
      () =>
        /REDIS_SSL_CERT: the value does not work with Redis at .* \(\w+ alert [a-z ]+\); name a certificate that the server accepts/,
    ],
    [
      'a wrong password for Redis',
      'query',
      () => ({ REDIS_URL: env.query['REDIS_URL']?.replace(SECRET, `${SECRET}-wrong`) }),
      () =>
        `REDIS_URL: the value does not work with Redis at rediss://***@127.0.0.1:${redis.tlsPort} (WRONGPASS invalid username-password pair or user is disabled.); correct the user and password in redis://USER:PASSWORD@HOST`,
    ],
  ])('refuses %s', async (name, role, more, text) => {
    const required = name === 'no client certificate for Redis' ? 'yes' : 'optional';
    await redis.redis.config('SET', 'tls-auth-clients', required);
    const child = new RanklogProcess(['start', '--roles', role], { ...env[role], ...more() });
    processes.push(child);
    expect([await child.ended, child.errors]).toEqual([2, child.errors]);
    const expected = text();
    if (typeof expected === 'string') expect(child.errors).toContain(expected);
    else expect(child.errors).toMatch(expected);
  });

  it('shows no password and no key in any output', () => {
    const all = [...processes.map(({ output, errors }) => output + errors), answers].join('\n');
    const expected = ['"level":20', 'KAFKA_SASL_PASSWORD', 'ranklog_redis_up 1', 'grant them'];
    expect(expected.filter((text) => !all.includes(text))).toEqual([]);
    const keys = ['ca', 'kafka', 'redis', 'ranklog-query'].flatMap((name) =>
      readFileSync(ca.path(`${name}.key.pem`), 'utf8').split('\n'),
    );
    const secrets = [SECRET, ...keys.filter((line) => line !== '' && !line.startsWith('-----'))];
    expect(secrets.length).toBeGreaterThan(8);
    expect(secrets.filter((secret) => all.includes(secret))).toEqual([]);
  });
});

/** A Redis with TLS on another port than that of `redis`. */
async function startRedis(ca: TestCa): Promise<RedisServer & { tlsPort: number }> {
  const tlsPort = await freePort();
  const { cert, key } = ca.issue('redis', 'IP:127.0.0.1');
  const server = await RedisServer.start(
    ...['--tls-port', String(tlsPort), '--tls-auth-clients', 'optional'],
    ...['--tls-ca-cert-file', ca.cert, '--tls-cert-file', cert, '--tls-key-file', key],
  );
  return Object.assign(server, { tlsPort });
}
