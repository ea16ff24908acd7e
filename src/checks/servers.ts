import type { Redis } from 'ioredis';
import { KeySpace, refusedCommands } from '#board-store';
import { brokerFacts, type Right } from '#kafka-batch';
import type { Role } from '../config/roles.js';
import { SettingsError, withoutPassword, type Settings } from '../config/settings.js';
import type { KafkaConnection } from '../infra/kafka.js';

/** What is checked: connected clients, and the roles that use them. */
export interface Subject {
  readonly settings: Settings;
  readonly roles: readonly Role[];
  readonly redis: Redis;
  readonly connection: KafkaConnection;
}

/** Resolves with a text to warn, or with anything else. @throws SettingsError to refuse, any other error if it can't be checked */
export type Check = (subject: Subject) => Promise<unknown>;

const OLDEST_REDIS = '7.0';
/** Kafka tells no release; this is the version of its Fetch requests in the oldest one that is tested. */
const OLDEST_KAFKA = { release: '3.9', fetchVersion: 17 };

export const redisVersion: Check = async (subject) => {
  const version = await redisFact(subject, 'redis_version');
  if (version.localeCompare(OLDEST_REDIS, 'en', { numeric: true }) < 0)
    refuse(`${redisOf(subject)} has version ${version}; upgrade it to ${OLDEST_REDIS} or later`);
};

export const redisEviction: Check = async (subject) => {
  const policy = await redisFact(subject, 'maxmemory_policy');
  if (policy !== 'noeviction')
    refuse(
      `${redisOf(subject)} has maxmemory-policy ${policy}, so it deletes parts of boards when it is full; set "maxmemory-policy noeviction" in redis.conf`,
    );
};

export const redisPersistence: Check = async (subject) => {
  const { redis } = subject;
  const isKept = /^(aof_enabled:1|role:slave|connected_slaves:[1-9])/m.test(await redis.info());
  if (isKept || ((await redis.config('GET', 'save')) as string[])[1] !== '') return undefined;
  return `${redisOf(subject)} has no persistence and no replica, so a restart empties it, and boards are stale until they are built again from the log; set "appendonly yes" in redis.conf`;
};

export const redisRights: Check = async (subject) => {
  const { redisPrefix, redisUrl } = subject.settings;
  const refused = await refusedCommands(subject.redis, new KeySpace(redisPrefix));
  if (refused.length === 0) return;
  const user = new URL(redisUrl).username || 'default';
  const rights = refused.map((command) => `+${command.toLowerCase()}`).join(' ');
  refuse(
    `${redisOf(subject)} refuses commands or keys to the user; grant them: ACL SETUSER ${user} ~${redisPrefix}:* ${rights}`,
  );
};

export const kafkaRights: Check = async (subject) => {
  const { kafkaBrokers, kafkaSaslUsername: user } = subject.settings;
  const { fetchVersion, missing } = await brokerFacts(subject.connection.kafka, rightsOf(subject));
  const server = `KAFKA_BROKERS: Kafka at ${kafkaBrokers.join(',')}`;
  const problem = kafkaVersionProblem(server, fetchVersion);
  if (problem !== undefined) refuse(problem);
  if (missing.length === 0) return;
  const grant = `kafka-acls --add --allow-principal User:${user || 'ANONYMOUS'} --operation`;
  // Each partition has a transactional id of its own.
  const all = `${subject.settings.group} --resource-pattern-type prefixed`;
  const grants = missing.map(
    ([right, name]) => `${grant} ${right} ${right === 'Write --transactional-id' ? all : name}`,
  );
  refuse(`${server} refuses rights to the user; grant them: ${grants.join('; ')}`);
};

export function kafkaVersionProblem(server: string, fetchVersion: number): string | undefined {
  if (fetchVersion >= OLDEST_KAFKA.fetchVersion) return undefined;
  return `${server} is older than ${OLDEST_KAFKA.release}; upgrade it`;
}

function rightsOf({ settings, roles, connection: { topics } }: Subject): Right[] {
  const { scoreEvents, rankChanges, leaderChanges, deadLetters, definitions } = topics;
  const { group, queryWrites } = settings;
  const rights: Right[] = [
    ['Read --topic', definitions],
    ['DescribeConfigs --topic', scoreEvents],
  ];
  if (roles.includes('ingest')) {
    const results = [rankChanges, leaderChanges, deadLetters];
    for (const topic of results)
      rights.push(
        ['Read --topic', topic],
        ['Write --topic', topic],
        ['DescribeConfigs --topic', topic],
      );
    rights.push(['Read --group', group], ['Write --transactional-id', `${group}-${scoreEvents}-0`]);
  }
  if (roles.includes('reconciliation')) rights.push(['Write --topic', definitions]);
  if (roles.some((role) => role !== 'query')) rights.push(['Read --topic', scoreEvents]);
  if (roles.includes('query')) rights.push(['Read --topic', rankChanges]);
  if (roles.includes('query') && queryWrites)
    rights.push(['Write --topic', scoreEvents], ['Read --topic', deadLetters]);
  return [...new Map(rights.map((right) => [right.join(' '), right])).values()];
}

async function redisFact({ redis }: Subject, name: string): Promise<string> {
  const found = new RegExp(`^${name}:(\\S+)`, 'm').exec(await redis.info());
  if (found?.[1] === undefined) throw new Error(`INFO lacks ${name}`);
  return found[1];
}

function redisOf({ settings }: Subject): string {
  return `REDIS_URL: Redis at ${withoutPassword(settings.redisUrl)}`;
}

function refuse(problem: string): never {
  throw new SettingsError([problem]);
}
