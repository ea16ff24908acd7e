import type { Redis } from 'ioredis';
import type { Admin, Kafka } from 'kafkajs';
import { BoardBuildingError, BoardReader, KeySpace, LeaseStore } from '#board-store';
import { topicNames, type TopicNames } from '#contracts';
import { kafkaFrom, redisFrom, waitForServices } from '../operations/clients.js';
import { createLogger, type Logger } from '../operations/logger.js';
import { loadSettings, type Settings } from '../operations/settings.js';
import { buildingRefusal } from './building-refusal.js';

/** What a command needs: settings, and the connections that it asked for. */
export interface Session {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly topics: TopicNames;
}
export interface RedisSession extends Session {
  readonly redis: Redis;
  readonly reader: BoardReader;
}
export interface KafkaSession extends Session {
  readonly kafka: Kafka;
  readonly admin: Admin;
}

/** Settings, with the log at `warn` unless the user has asked for more: a command's output is its answer. */
export function openSession(): Session {
  const { settings } = loadSettings();
  const logLevel = process.env['RANKLOG_LOG_LEVEL'] === undefined ? 'warn' : settings.logLevel;
  return {
    settings,
    logger: createLogger({ ...settings, logLevel }),
    topics: topicNames(settings.topicPrefix),
  };
}

/**
 * Runs `use` with a connection to Redis, and closes it; boards are read as `generation` has them, or as they are live.
 * @throws ServiceUnreachableError
 */
export async function withRedis<T>(
  use: (session: RedisSession) => Promise<T>,
  generation?: string,
): Promise<T> {
  const session = openSession();
  const redis = redisFrom(session.settings, session.logger);
  try {
    await waitForServices(session.settings, { redis }, session.logger);
    const keys = new KeySpace(session.settings.redisPrefix);
    const reader = new BoardReader(redis, keys, generation);
    return await use({ ...session, redis, reader });
  } catch (error) {
    throw error instanceof BoardBuildingError ? await withProgress(error, redis, session) : error;
  } finally {
    redis.disconnect();
  }
}

async function withProgress(
  error: BoardBuildingError,
  redis: Redis,
  { settings }: Session,
): Promise<Error> {
  const leases = new LeaseStore(redis, new KeySpace(settings.redisPrefix), settings);
  return buildingRefusal(error, await leases.statuses());
}

/** Runs `use` with a Kafka client and an admin connection, and closes it. @throws ServiceUnreachableError */
export async function withKafka<T>(use: (session: KafkaSession) => Promise<T>): Promise<T> {
  const session = openSession();
  const kafka = kafkaFrom(session.settings, session.logger);
  await waitForServices(session.settings, { kafka: true }, session.logger);
  const admin = kafka.admin();
  await admin.connect();
  try {
    return await use({ ...session, kafka, admin });
  } finally {
    await admin.disconnect();
  }
}
