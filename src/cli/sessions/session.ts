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
 * Runs `use` with a connection to Redis and the stores on it, then closes it. `generation`: the
 * snapshot that `stores.reader` reads in place of live generations. @throws ServiceUnreachableError
 */
export function withRedis<T>(
  use: (session: RedisSession) => Promise<T>,
  generation?: string,
): Promise<T> {
  const session = openSession();
  const { settings, logger } = session;
  return withClient(createRedis(settings, logger), session, async (redis) => {
    const { redisPrefix } = settings;
    const stores = await openStores(redis, { redisPrefix }, { generation });
    return use({ ...session, redis, stores });
  });
}

/**
 * Runs `use` with a connection to another Redis than that of the settings, which may be a replica.
 * Sends no command of its own but PING. @throws ServiceUnreachableError
 */
export function withForeignRedis<T>(
  redisUrl: string,
  use: (redis: Redis) => Promise<T>,
): Promise<T> {
  const { settings: own, logger } = openSession();
  const settings = { ...own, redisUrl };
  return withClient(createRedis(settings, logger, true), { settings, logger }, use);
}

async function withClient<T>(
  redis: Redis,
  { settings, logger }: Session,
  use: (redis: Redis) => Promise<T>,
): Promise<T> {
  try {
    await waitForServices(settings, { redis }, logger);
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}
