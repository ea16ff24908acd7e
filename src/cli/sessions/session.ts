import type { Redis } from 'ioredis';
import { BoardReader, KeySpace, StoreStatus } from '#board-store';
import { loadSettings } from '../../config/settings.js';
import { createLogger } from '../../infra/logger.js';
import { createRedis } from '../../infra/redis.js';
import { waitForServices } from '../../infra/services.js';

export type Session = ReturnType<typeof openSession>;
export interface RedisSession extends Session {
  readonly redis: Redis;
  readonly keys: KeySpace;
  readonly reader: BoardReader;
  readonly status: StoreStatus;
}

/** The settings and a logger, whose level is `warn` unless RANKLOG_LOG_LEVEL is set. */
export function openSession() {
  const { settings } = loadSettings();
  const logLevel = process.env['RANKLOG_LOG_LEVEL'] === undefined ? 'warn' : settings.logLevel;
  return { settings, logger: createLogger({ ...settings, logLevel }) };
}

/**
 * Runs `use` with a connection to Redis, then closes it. `generation`: the snapshot that `reader` reads; default: live generations.
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
  const keys = new KeySpace(settings.redisPrefix);
  try {
    await waitForServices(settings, { redis }, logger);
    const reader = new BoardReader({ redis, prefix: keys.prefix, generation });
    const status = new StoreStatus(redis, keys);
    return await use({ settings, logger, redis, keys, reader, status });
  } finally {
    redis.disconnect();
  }
}
