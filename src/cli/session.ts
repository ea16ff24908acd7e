import type { Redis } from 'ioredis';
import { BoardBuildingError, BoardReader, KeySpace, LeaseStore } from '#board-store';
import { createRedis } from '../infra/redis.js';
import { waitForServices } from '../infra/services.js';
import { createLogger, type Logger } from '../infra/logger.js';
import { loadSettings, type Settings } from '../config/settings.js';
import { buildingRefusal } from './held-lease.js';

export interface Session {
  readonly settings: Settings;
  readonly logger: Logger;
}
export interface RedisSession extends Session {
  readonly redis: Redis;
  readonly reader: BoardReader;
}

/** Settings, with log level `warn` unless the user sets another. */
export function openSession(): Session {
  const { settings } = loadSettings();
  const logLevel = process.env['RANKLOG_LOG_LEVEL'] === undefined ? 'warn' : settings.logLevel;
  return {
    settings,
    logger: createLogger({ ...settings, logLevel }),
  };
}

/**
 * Runs `use` with a connection to Redis, then closes it. Reads this snapshot, or the live generations.
 * @throws ServiceUnreachableError
 */
export async function withRedis<T>(
  use: (session: RedisSession) => Promise<T>,
  generation?: string,
): Promise<T> {
  const session = openSession();
  const redis = createRedis(session.settings, session.logger);
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
