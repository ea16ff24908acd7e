// To add a check of a server: write it here, and list it in REDIS_CHECKS or KAFKA_CHECKS. Add its
// row to docs/operations.md, and a test of its refusal to test/infra.

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { KeySpace, primariesOf, refusedCommands, type RedisClient } from '#board-store';
import { topicNames } from '#contracts';
import { brokerFacts, type Right } from '#kafka-batch';
import { withoutPassword } from '#redis-url';
import type { Role } from '../config/roles.js';
import { SettingsError, type Settings } from '../config/settings.js';
import type { KafkaConnection } from './kafka.js';
import type { Logger } from './logger.js';
import { announcerId, requiredTopics } from './topics.js';

/** The subject of the checks: connected clients, and the roles that use them. */
export interface Subject {
  readonly settings: Settings;
  readonly roles: readonly Role[];
  readonly redis: RedisClient;
  readonly connection: KafkaConnection;
}

/**
 * Resolves with the text of a warning; any other value means that there is no problem.
 * @throws SettingsError to refuse the settings, any other error if the check is impossible
 */
type Check = (subject: Subject) => Promise<unknown>;
export type Checks = Readonly<Record<string, Check>>;

const OLDEST_REDIS = '7.0';
/**
 * The oldest tested release of Kafka. A broker does not report its release, so the check uses the
 * version of Fetch requests of that release.
 */
const OLDEST_KAFKA = { release: '3.9', fetchVersion: 17 };

/** A server of the subject, and how messages name it. */
interface RedisServer extends Pick<Subject, 'settings'> {
  readonly server: Redis;
  readonly name: string;
  readonly isNode: boolean;
}

/**
 * Checks the server, or each primary of a cluster. Reports only the first problem: mostly, all
 * primaries have the same one.
 */
function ofEachPrimary(check: (server: RedisServer) => Promise<string | undefined>): Check {
  return async ({ redis, settings }) => {
    const found = primariesOf(redis).map((server) => {
      const name = `REDIS_URL: Redis at ${withoutPassword(settings.redisUrl)}`;
      if (server === redis) return check({ server, name, settings, isNode: false });
      const { host, port } = server.options;
      return check({ server, name: `${name}, node ${host}:${port}`, settings, isNode: true });
    });
    return (await Promise.all(found)).find((text) => text !== undefined);
  };
}

export const redisVersion = ofEachPrimary(async ({ server, name }) => {
  const version = await redisFact(server, 'redis_version');
  if (version.localeCompare(OLDEST_REDIS, 'en', { numeric: true }) >= 0) return undefined;
  refuse(`${name} has version ${version}; upgrade it to ${OLDEST_REDIS} or later`);
});

const redisEviction = ofEachPrimary(async ({ server, name }) => {
  const policy = await redisFact(server, 'maxmemory_policy');
  if (policy === 'noeviction') return undefined;
  refuse(
    `${name} has maxmemory-policy ${policy}, so it deletes parts of boards when it is full; ` +
      'set "maxmemory-policy noeviction" in redis.conf',
  );
});

const redisPersistence = ofEachPrimary(async ({ server, name }) => {
  const isKept = /^(aof_enabled:1|role:slave|connected_slaves:[1-9])/m.test(await server.info());
  if (isKept) return undefined;
  const [, snapshots] = (await server.config('GET', 'save')) as string[];
  if (snapshots !== '') return undefined;
  return (
    `${name} has no persistence and no replica, so a restart empties it, and boards are stale ` +
    'until they are built again from the log; set "appendonly yes" in redis.conf'
  );
});

/**
 * INFO has `min_slaves_good_slaves` if `min-replicas-to-write` is set. With a single replica, this
 * setting would stop writes whenever either server is lost, so the check does not advise it then.
 */
export const redisReplicas = ofEachPrimary(async ({ server, name }) => {
  const replication = await server.info('replication');
  const replicas = /^connected_slaves:(\d+)/m.exec(replication)?.[1] ?? '0';
  if (Number(replicas) < 2 || replication.includes('min_slaves_good_slaves')) return undefined;
  return (
    `${name} has ${replicas} replicas, but also takes writes that none of them gets: if it is ` +
    'cut off, another server becomes the primary, and this one goes on for a time; set ' +
    '"min-replicas-to-write 1" in redis.conf'
  );
});

export const redisShards: Check = ({ redis, settings: { shards } }) => {
  const { length: primaries } = primariesOf(redis);
  const text =
    `RANKLOG_SHARDS is ${shards}, so not all of the ${primaries} primaries of the Redis Cluster ` +
    'get boards; set it to 64 or more before the first start, as another number takes a recovery';
  return Promise.resolve(shards < primaries ? text : undefined);
};

const redisRights = ofEachPrimary(async ({ server, name, settings, isNode }) => {
  const { redisPrefix } = settings;
  const refused = await refusedCommands(server, new KeySpace(redisPrefix), isNode);
  if (refused.length === 0) return undefined;
  const user = server.options.username ?? 'default';
  const rights = refused.map((command) => `+${command.toLowerCase()}`).join(' ');
  refuse(
    `${name} refuses commands or keys to the user; grant them: ACL SETUSER ${user} ` +
      `~${redisPrefix}:* ${rights}`,
  );
});

export const kafkaRights: Check = async (subject) => {
  const { settings, roles, connection } = subject;
  const { fetchVersion, missing } = await brokerFacts(connection.kafka, rightsOf(settings, roles));
  const server = `KAFKA_BROKERS: Kafka at ${settings.kafkaBrokers.join(',')}`;
  const problem = kafkaVersionProblem(server, fetchVersion);
  if (problem !== undefined) refuse(problem);
  if (missing.length === 0) return;
  refuse(`${server} refuses rights to the user; grant them: ${grantsOf(settings, missing)}`);
};

/** Describes missing rights to announce results of closing windows; undefined if there are none. */
export async function missingAnnouncerRights({
  settings,
  connection,
}: Pick<Subject, 'settings' | 'connection'>): Promise<string | undefined> {
  const rights: readonly Right[] = [
    ['Write --topic', topicNames(settings.topicPrefix).periodResults],
    ['Write --transactional-id', announcerId(settings.group)],
  ];
  const { missing } = await brokerFacts(connection.kafka, rights);
  if (missing.length === 0) return undefined;
  return (
    'Kafka refuses rights to the user, so no result of a closing window is announced; grant ' +
    `them: ${grantsOf(settings, missing)}`
  );
}

/** The commands that grant rights to the user of ranklog. */
function grantsOf(settings: Settings, rights: readonly Right[]): string {
  const grant = `kafka-acls --add --allow-principal "User:${principalOf(settings)}" --operation`;
  return rights.map((right) => `${grant} ${right.join(' ')}`).join('; ');
}

/** The checks of a start and of `ranklog doctor`. */
export const REDIS_CHECKS: Checks = {
  'Redis version': redisVersion,
  'Redis eviction': redisEviction,
  'Redis persistence': redisPersistence,
  'Redis replicas': redisReplicas,
  'Redis shards': redisShards,
  'Redis rights': redisRights,
};
export const KAFKA_CHECKS: Checks = { 'Kafka version and rights': kafkaRights };

/** Printed by `ranklog doctor`. */
export interface Finding {
  readonly check: string;
  readonly outcome: 'ok' | 'warning' | 'refused' | 'unreachable';
  /** The problem and what to do about it; empty if there is no problem. */
  readonly text: string;
}

/** Runs checks; `outcomeOf` translates an error to an outcome. */
export function find(
  checks: Checks,
  subject: Subject,
  outcomeOf = (error: unknown): Finding['outcome'] =>
    error instanceof SettingsError ? 'refused' : 'warning',
): Promise<Finding[]> {
  const found = Object.entries(checks).map(async ([check, run]): Promise<Finding> => {
    try {
      const text = await run(subject);
      return typeof text === 'string'
        ? { check, outcome: 'warning', text }
        : { check, outcome: 'ok', text: '' };
    } catch (error) {
      const outcome = outcomeOf(error);
      const { message } = error as Error;
      const text = outcome === 'warning' ? `${check} can't be checked: ${message}` : message;
      return { check, outcome, text };
    }
  });
  return Promise.all(found);
}

/**
 * Runs the checks of a start, and logs the warnings.
 * @throws SettingsError with all refusals
 */
export async function checkServers(subject: Subject, logger: Logger): Promise<void> {
  const findings = await find({ ...REDIS_CHECKS, ...KAFKA_CHECKS }, subject);
  for (const { outcome, text } of findings) {
    if (outcome === 'warning') logger.warn(text);
  }
  const refused = findings.filter(({ outcome }) => outcome === 'refused');
  if (refused.length > 0) throw new SettingsError(refused.map(({ text }) => text));
}

/** The name of the user for Kafka. For a client certificate: its subject in reverse order. */
function principalOf({ kafkaSaslMechanism, kafkaSaslUsername, kafkaSslCert }: Settings): string {
  if (kafkaSaslMechanism !== '' || kafkaSslCert === '') return kafkaSaslUsername || 'ANONYMOUS';
  const { subject } = new X509Certificate(readFileSync(kafkaSslCert));
  return subject.split('\n').reverse().join(',');
}

export function kafkaVersionProblem(server: string, fetchVersion: number): string | undefined {
  if (fetchVersion >= OLDEST_KAFKA.fetchVersion) return undefined;
  return `${server} is older than ${OLDEST_KAFKA.release}; upgrade it`;
}

/** The rights in Kafka that roles need, without Describe if another right includes it. */
function rightsOf(settings: Settings, roles: readonly Role[]): Right[] {
  const { topicPrefix, group, queryWrites } = settings;
  const topics = topicNames(topicPrefix);
  const { scoreEvents, rankChanges, leaderChanges, deadLetters, definitions } = topics;
  const ifRole = (role: Role, ...names: string[]) => (roles.includes(role) ? names : []);
  const results = ifRole('ingest', rankChanges, leaderChanges, deadLetters);
  const ofQuery = ifRole('query', rankChanges, deadLetters);
  const read = new Set([definitions, scoreEvents, ...results, ...ofQuery]);
  const write = [...results, ...ifRole('reconciliation', definitions)];
  if (queryWrites) write.push(...ifRole('query', scoreEvents));
  const idPrefixes = ifRole('ingest', `${group}-${scoreEvents}-`);

  const rights: Partial<Record<Right[0], readonly string[]>> = {
    'Read --topic': [...read],
    'Read --group': ifRole('ingest', group),
    'Write --topic': write,
    'Write --resource-pattern-type prefixed --transactional-id': idPrefixes,
    'DescribeConfigs --topic': [scoreEvents, ...results],
    'Describe --topic': requiredTopics(topics).filter((topic) => !read.has(topic)),
    'Describe --group': roles.includes('ingest') ? [] : [group],
  };
  const all = Object.entries(rights) as [Right[0], readonly string[]][];
  return all.flatMap(([right, names]) => names.map((name): Right => [right, name]));
}

async function redisFact(server: Redis, name: string): Promise<string> {
  const found = new RegExp(`^${name}:(\\S+)`, 'm').exec(await server.info());
  if (found?.[1] === undefined) throw new Error(`INFO lacks ${name}`);
  return found[1];
}

function refuse(problem: string): never {
  throw new SettingsError([problem]);
}
