import {
  IdentityCheck,
  KeySpace,
  storedIdentity,
  type BoardStore,
  type Identity,
  type RedisClient,
} from '#board-store';
import type { DefinitionRecord } from '#contracts';
import { partitionCount } from '#kafka-batch';
import type { Settings } from '../config/settings.js';
import { DefinitionsTopic } from './definitions-topic.js';
import type { KafkaConnection } from './kafka.js';
import { SILENT } from './logger.js';
import { isRedisUnavailable } from './redis.js';

/**
 * The identity of a ranklog with these settings. Without RANKLOG_GROUP, its group is the stored
 * one, because older versions had another default; at the first start it is the topic prefix.
 * Cost: one request to each server.
 */
export async function readIdentity(
  redis: RedisClient,
  connection: KafkaConnection,
  settings: Settings,
): Promise<IdentityCheck> {
  const { clusterId: cluster } = await connection.admin.describeCluster();
  const { topicPrefix, redisPrefix, shards } = settings;
  const stored = settings.group || (await storedGroup(redis, connection, settings));
  const group = stored || topicPrefix;
  return new IdentityCheck({ cluster, topicPrefix, group, redisPrefix, shards });
}

/**
 * The settings with the group of the identity. If the identity can't be read, the group is that of
 * the settings, or its default.
 */
export async function withGroup(
  settings: Settings,
  identity: Promise<IdentityCheck> | undefined,
): Promise<Settings> {
  const found = await identity?.catch(() => undefined);
  const group = found?.group ?? (settings.group || settings.topicPrefix);
  return { ...settings, group };
}

/**
 * Checks that Kafka and Redis belong to this ranklog, and claims them if they have no identity.
 * Returns the definition records. Checks Kafka first, because an emptied Redis, or another prefix
 * in it, has no identity.
 * @throws OtherIdentityError
 */
export async function claimIdentity(
  store: Pick<BoardStore, 'claim'>,
  definitions: Pick<DefinitionsTopic, 'readAll' | 'claim'>,
): Promise<Map<string, DefinitionRecord>> {
  const current = await definitions.readAll();
  await store.claim();
  await definitions.claim();
  return current;
}

/** Reads the definitions topic only if Redis has no identity, or does not answer. */
async function storedGroup(
  redis: RedisClient,
  connection: KafkaConnection,
  { redisPrefix, topicPrefix }: Settings,
): Promise<string | undefined> {
  const ofRedis = await storedIdentity(redis, new KeySpace(redisPrefix)).catch((error: unknown) => {
    if (redis.isCluster && isRedisUnavailable(error)) return ''; // other nodes may answer
    throw error;
  });
  const text = ofRedis || (await identityOfTopic(connection));
  if (text === '') return undefined;

  const identity = JSON.parse(text) as Partial<Identity>;
  return identity.topicPrefix === topicPrefix ? identity.group : undefined;
}

/**
 * Returns '' without an identity. Looks for the topic first, because `storedIdentity` would wait 10
 * s for a missing one.
 */
async function identityOfTopic(connection: KafkaConnection): Promise<string> {
  const { kafka, topics } = connection;
  if ((await partitionCount(kafka, topics.definitions)) === 0) return '';
  return new DefinitionsTopic(connection, new IdentityCheck({}), SILENT).storedIdentity();
}
