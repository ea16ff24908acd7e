import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { KeySpace, refusedCommands } from '#board-store';
import { topicNames } from '#contracts';
import { brokerFacts, type Right } from '#kafka-batch';
import type { Role } from '../config/roles.js';
import { SettingsError, withoutPassword, type Settings } from '../config/settings.js';
import type { KafkaConnection } from './kafka.js';
import type { Logger } from './logger.js';
import { announcerId, requiredTopics } from './topics.js';

/** What is checked: connected clients, and the roles that use them. */
export interface Subject {
  readonly settings: Settings;
  readonly roles: readonly Role[];
  readonly redis: Redis;
  readonly connection: KafkaConnection;
}

/** Resolves with the text of a warning; any other value means that all is well. @throws SettingsError to refuse, any other error if it can't be checked */
type Check = (subject: Subject) => Promise<unknown>;
export type Checks = Readonly<Record<string, Check>>;

const OLDEST_REDIS = '7.0';
/** Kafka does not report its release. This is the version of Fetch requests of the oldest one that is tested. */
const OLDEST_KAFKA = { release: '3.9', fetchVersion: 17 };

export const redisVersion: Check = async (subject) => {
  const version = await redisFact(subject, 'redis_version');
  if (version.localeCompare(OLDEST_REDIS, 'en', { numeric: true }) < 0)
    refuse(`${redisOf(subject)} has version ${version}; upgrade it to ${OLDEST_REDIS} or later`);
};

const redisEviction: Check = async (subject) => {
  const policy = await redisFact(subject, 'maxmemory_policy');
  if (policy !== 'noeviction')
    refuse(
      `${redisOf(subject)} has maxmemory-policy ${policy}, so it deletes parts of boards when it is full; set "maxmemory-policy noeviction" in redis.conf`,
    );
};

const redisPersistence: Check = async (subject) => {
  const { redis } = subject;
  const isKept = /^(aof_enabled:1|role:slave|connected_slaves:[1-9])/m.test(await redis.info());
  if (isKept || ((await redis.config('GET', 'save')) as string[])[1] !== '') return undefined;
  return `${redisOf(subject)} has no persistence and no replica, so a restart empties it, and boards are stale until they are built again from the log; set "appendonly yes" in redis.conf`;
};

const redisRights: Check = async (subject) => {
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
  const { settings, roles, connection } = subject;
  const { fetchVersion, missing } = await brokerFacts(connection.kafka, rightsOf(settings, roles));
  const server = `KAFKA_BROKERS: Kafka at ${settings.kafkaBrokers.join(',')}`;
  const problem = kafkaVersionProblem(server, fetchVersion);
  if (problem !== undefined) refuse(problem);
  if (missing.length === 0) return;
  refuse(`${server} refuses rights to the user; grant them: ${grantsOf(settings, missing)}`);
};

/** Which rights that announcing the results of closing windows takes are missing; undefined if none is. */
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
  return `Kafka refuses rights to the user, so no result of a closing window is announced; grant them: ${grantsOf(settings, missing)}`;
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
  'Redis rights': redisRights,
};
export const KAFKA_CHECKS: Checks = { 'Kafka version and rights': kafkaRights };

/** Printed by `ranklog doctor`. */
export interface Finding {
  readonly check: string;
  readonly outcome: 'ok' | 'warning' | 'refused' | 'unreachable';
  /** What is wrong and what to do; empty if nothing is. */
  readonly text: string;
}

/** Runs checks; `outcomeOf` tells the outcome of an error. */
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

/** Logs the warnings. @throws SettingsError with all refusals */
export async function checkServers(subject: Subject, logger: Logger): Promise<void> {
  const findings = await find({ ...REDIS_CHECKS, ...KAFKA_CHECKS }, subject);
  for (const { outcome, text } of findings) if (outcome === 'warning') logger.warn(text);
  const refused = findings.filter(({ outcome }) => outcome === 'refused');
  if (refused.length > 0) throw new SettingsError(refused.map(({ text }) => text));
}

/** The name of the user for Kafka. That of a client certificate is its subject, from the end to the beginning. */
function principalOf({ kafkaSaslMechanism, kafkaSaslUsername, kafkaSslCert }: Settings): string {
  if (kafkaSaslMechanism !== '' || kafkaSslCert === '') return kafkaSaslUsername || 'ANONYMOUS';
  const { subject } = new X509Certificate(readFileSync(kafkaSslCert));
  return subject.split('\n').reverse().join(',');
}

export function kafkaVersionProblem(server: string, fetchVersion: number): string | undefined {
  if (fetchVersion >= OLDEST_KAFKA.fetchVersion) return undefined;
  return `${server} is older than ${OLDEST_KAFKA.release}; upgrade it`;
}

/** The rights in Kafka that roles need, but not Describe where another right includes it. */
function rightsOf(settings: Settings, roles: readonly Role[]): Right[] {
  const { topicPrefix, group, queryWrites } = settings;
  const topics = topicNames(topicPrefix);
  const { scoreEvents, rankChanges, leaderChanges, deadLetters, definitions } = topics;
  const own = (role: Role, ...names: string[]) => (roles.includes(role) ? names : []);
  const results = own('ingest', rankChanges, leaderChanges, deadLetters);
  const read = [definitions, scoreEvents, ...results, ...own('query', rankChanges, deadLetters)];
  const write = [...results, ...own('reconciliation', definitions)];
  if (queryWrites) write.push(...own('query', scoreEvents));
  const ids = own('ingest', `${group}-${scoreEvents}-`); // those of its partitions begin so
  const rights: Partial<Record<Right[0], readonly string[]>> = {
    'Read --topic': [...new Set(read)],
    'Read --group': own('ingest', group),
    'Write --topic': write,
    'Write --resource-pattern-type prefixed --transactional-id': ids,
    'DescribeConfigs --topic': [scoreEvents, ...results],
    'Describe --topic': requiredTopics(topics).filter((topic) => !read.includes(topic)),
    'Describe --group': roles.includes('ingest') ? [] : [group],
  };
  const all = Object.entries(rights) as [Right[0], readonly string[]][];
  return all.flatMap(([right, names]) => names.map((name): Right => [right, name]));
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
