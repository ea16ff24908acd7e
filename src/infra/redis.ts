import { Redis } from 'ioredis';
import { tlsOptions, type Settings } from '../config/settings.js';
import type { Logger } from './logger.js';

/** Long enough for a slow script, short enough to notice a server that hangs. */
const COMMAND_TIMEOUT_MS = 5_000;
const MAX_RECONNECT_DELAY_MS = 1_000;

/**
 * A Redis client that is not connected yet. While the server is unreachable, commands fail instead of queueing. A command may
 * have run although it failed, or run later when ioredis sends it again on the next connection, so ranklog sends only commands
 * that are safe to repeat.
 */
export function createRedis(settings: Settings, logger: Logger): Redis {
  const redis = new Redis(settings.redisUrl, {
    lazyConnect: true,
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: COMMAND_TIMEOUT_MS, // a half-open connection is replaced, and the process is not ready meanwhile
    retryStrategy: (attempt) => Math.min(50 * attempt, MAX_RECONNECT_DELAY_MS),
    reconnectOnError: isOfSelect,
    disableClientInfo: true, // would need one more right
    ...(settings.redisUrl.startsWith('rediss:') && { tls: tlsOptions(settings, 'redisSsl') }),
  });
  redis.on('close', () => stopSocketTimer(redis));
  const send = redis.sendCommand.bind(redis);
  redis.sendCommand = (command, stream) => {
    const { reject } = command;
    command.reject = (error) =>
      reject.call(command, error.message.startsWith(OFFLINE) ? new Error(NOT_CONNECTED) : error);
    return send(command, stream);
  };
  let state: 'new' | 'ready' | 'down' = 'new';
  redis.on('error', (error: Error) => {
    if (state === 'down') return;
    const event = state === 'new' ? 'failed' : 'lost';
    logger.warn(`Redis connection ${event}: ${error.message || String(error)}`);
    state = 'down';
  });
  redis.on('ready', () => {
    if (state === 'down') logger.info('Redis connection restored');
    state = 'ready';
  });
  return redis;
}

/** ioredis 5.11 keeps the timer of a closed connection, which would then close the next one. */
function stopSocketTimer(redis: object): void {
  const owner = redis as { socketTimeoutTimer: NodeJS.Timeout | undefined };
  clearTimeout(owner.socketTimeoutTimer);
  owner.socketTimeoutTimer = undefined;
}

/** Without a reconnect, ioredis would go on in database 0 if Redis does not have that of the URL. */
function isOfSelect(error: Error): boolean {
  return (error as Error & { command?: { name: string } }).command?.name === 'select';
}

/** The text of ioredis goes on with "and enableOfflineQueue options is false", which tells users nothing. */
const OFFLINE = "Stream isn't writeable";
const NOT_CONNECTED = 'Redis is not connected';

/** ioredis exports no classes for these errors; only their texts identify them. */
const CLIENT_ERROR = new RegExp(
  `^(Command timed out|Connection is closed|${OFFLINE}|${NOT_CONNECTED}|Reached the max retries per request limit)`,
);

/** Error replies of a server that is full or not ready, also from within a script. */
const SERVER_ERROR =
  /\b(LOADING|READONLY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|BUSY|OOM|NOREPLICAS|MISCONF) /;

const SYSTEM_ERRORS = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND']);

/** Whether a command failed because Redis is unreachable, full or not ready. */
export function isRedisUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'ReplyError') return SERVER_ERROR.test(error.message);
  const { code } = error as NodeJS.ErrnoException;
  return CLIENT_ERROR.test(error.message) || (code !== undefined && SYSTEM_ERRORS.has(code));
}
