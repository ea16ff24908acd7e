import type { Redis } from 'ioredis';
import { loadSettings } from '../../config/settings.js';
import { createLogger } from '../../infra/logger.js';
import { createRedis } from '../../infra/redis.js';
import { waitForServices } from '../../infra/services.js';
import { openStores, type Stores } from '../../infra/stores.js';

export type Session = ReturnType<typeof openSession>;
export interface RedisSession extends Session {
  readonly redis: Redis;
  readonly stores: Stores;
}

/** The settings and a logger, whose level is `warn` unless RANKLOG_LOG_LEVEL is set. */
export function openSession() {
  const { settings } = loadSettings();
  const logLevel = process.env['RANKLOG_LOG_LEVEL'] === undefined ? 'warn' : settings.logLevel;
  return { settings, logger: createLogger({ ...settings, logLevel }) };
}

/**
 * Runs `use` with a connection to Redis, then closes it. `generation`: the snapshot that `stores.reader` reads; default: live generations.
 * `redisUrl`: another Redis than that of the settings, maybe a replica.
 * @throws ServiceUnreachableError
 */
export async function withRedis<T>(
  use: (session: RedisSession) => Promise<T>,
  generation?: string,
  redisUrl?: string,
): Promise<T> {
  const { settings: own, logger } = openSession();
  const settings = { ...own, redisUrl: redisUrl ?? own.redisUrl };
  const redis = createRedis(settings, logger, redisUrl !== undefined);
  try {
    await waitForServices(settings, { redis }, logger);
    const { redisPrefix } = settings;
    const stores = await openStores(redis, { redisPrefix }, { generation });
    return await use({ settings, logger, redis, stores });
  } finally {
    redis.disconnect();
  }
}
