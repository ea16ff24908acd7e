import type { RedisClient } from '#board-store';
import { loadSettings } from '../../config/settings.js';
import { createLogger } from '../../infra/logger.js';
import { createRedis } from '../../infra/redis.js';
import { waitForServices } from '../../infra/services.js';
import { Stores, storedShards } from '../../infra/stores.js';

export type Session = ReturnType<typeof openSession>;

/** A connection to Redis. */
export interface RedisClientSession extends Session, Disposable {
  readonly redis: RedisClient;
}

export interface RedisSession extends RedisClientSession {
  readonly stores: Stores;
}

/** The settings and a logger, whose level is `warn` unless RANKLOG_LOG_LEVEL is set. */
export function openSession() {
  const { settings } = loadSettings();
  const logLevel = process.env['RANKLOG_LOG_LEVEL'] === undefined ? 'warn' : settings.logLevel;
  return { settings, logger: createLogger({ ...settings, logLevel }) };
}

/**
 * Connects to Redis and opens the stores. `generation`: the snapshot that `stores.reader` reads in
 * place of live generations.
 * @throws ServiceUnreachableError
 */
export async function openRedis(generation?: string): Promise<RedisSession> {
  const session = await openRedisClient();
  try {
    const { redis, settings } = session;
    const shards = await storedShards(redis, settings);
    const stores = new Stores(redis, { ...settings, shards }, { generation });
    return { ...session, stores };
  } catch (error) {
    session[Symbol.dispose]();
    throw error;
  }
}

/**
 * Connects to Redis.
 * @throws ServiceUnreachableError
 */
export function openRedisClient(): Promise<RedisClientSession> {
  return connectRedis(openSession());
}

/**
 * Connects to another Redis than the settings name. It may be a replica. Only sends PING to it.
 * @throws ServiceUnreachableError
 */
export function openForeignRedis(redisUrl: string): Promise<RedisClientSession> {
  const { settings, logger } = openSession();
  return connectRedis({ settings: { ...settings, redisUrl }, logger }, true);
}

async function connectRedis(session: Session, anyRole = false): Promise<RedisClientSession> {
  const { settings, logger } = session;
  const redis = createRedis(settings, logger, anyRole);
  try {
    await waitForServices(settings, { redis }, logger);
  } catch (error) {
    redis.disconnect();
    throw error;
  }
  return { ...session, redis, [Symbol.dispose]: () => redis.disconnect() };
}
