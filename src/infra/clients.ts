import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Logger } from './logger.js';
import type { Settings } from '../config/settings.js';

/** Kafka or Redis did not answer in time. */
export class ServiceUnreachableError extends Error {
  constructor(service: 'Kafka' | 'Redis', address: string, timeoutMs: number, cause: unknown) {
    super(
      `${service} at ${address} did not answer within ${timeoutMs / 1000} s (${words(cause)}); ` +
        `is it running, and is ${service === 'Kafka' ? 'KAFKA_BROKERS' : 'REDIS_URL'} right?`,
      { cause },
    );
    this.name = 'ServiceUnreachableError';
  }
}

/** Long enough for a slow script, short enough to notice a server that hangs. */
const COMMAND_TIMEOUT_MS = 5_000;
const LONGEST_RECONNECT_MS = 1_000;

/**
 * A Redis client of the settings. Commands fail while the server is away, in place of waiting without a bound; a
 * command may have run although it failed, so only repeatable ones are sent.
 */
export function redisFrom(settings: Settings, logger: Logger): Redis {
  const redis = new Redis(settings.redisUrl, {
    lazyConnect: true,
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    commandTimeout: COMMAND_TIMEOUT_MS,
    retryStrategy: (attempt) => Math.min(50 * attempt, LONGEST_RECONNECT_MS),
  });
  let away = false;
  redis.on('error', (error: Error) => {
    if (!away) logger.warn(`Redis is away: ${words(error)}`);
    away = true;
  });
  redis.on('ready', () => {
    if (away) logger.info('Redis is back');
    away = false;
  });
  return redis;
}

const RETRY_PAUSE_MS = 250;
const WORD_EVERY_MS = 3_000;

/**
 * Resolves when Kafka and Redis answer; tells every few seconds what it waits for.
 * @throws ServiceUnreachableError, and the reason of the signal as soon as it is aborted
 */
export async function waitForServices(
  settings: Settings,
  wanted: { kafka?: boolean; redis?: Redis; signal?: AbortSignal },
  logger: Logger,
): Promise<void> {
  const { kafka, redis, signal } = wanted;
  const { startTimeout: timeoutMs, kafkaBrokers, redisUrl } = settings;
  const waits: Wait[] = [];
  if (redis !== undefined)
    waits.push({
      service: 'Redis',
      address: hidePassword(redisUrl),
      timeoutMs,
      ping: () => pingRedis(redis),
    });
  if (kafka === true)
    waits.push({
      service: 'Kafka',
      address: kafkaBrokers.join(','),
      timeoutMs,
      ping: () => pingKafka(settings),
    });
  const all = Promise.allSettled(waits.map((wait) => waitFor(wait, logger, signal)));
  const ends = await (signal === undefined ? all : Promise.race([all, aborted(signal)]));
  const failure = ends.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}

/** @throws the reason of the signal once it is aborted: an attempt in hand may take long to fail */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}

interface Wait {
  readonly service: 'Kafka' | 'Redis';
  readonly address: string;
  readonly timeoutMs: number;
  readonly ping: () => Promise<void>;
}

async function pingRedis(redis: Redis): Promise<void> {
  if (redis.status === 'wait' || redis.status === 'end') await redis.connect();
  if (redis.status !== 'ready') throw new Error(`not connected, ${redis.status}`);
  await redis.ping();
}

/** One attempt, without words: the one who waits tells what is wrong. */
async function pingKafka(settings: Settings): Promise<void> {
  const { kafkaFrom } = await import('./kafka-client.js');
  const admin = kafkaFrom(settings, SILENT, 0).admin();
  try {
    await admin.connect();
    await admin.describeCluster();
  } finally {
    await admin.disconnect();
  }
}

const SILENT: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

async function waitFor(
  { service, address, timeoutMs, ping }: Wait,
  logger: Logger,
  signal: AbortSignal | undefined,
): Promise<void> {
  const begin = performance.now();
  let nextWord = begin + RETRY_PAUSE_MS;
  for (;;) {
    try {
      await ping();
      return;
    } catch (error) {
      const now = performance.now();
      signal?.throwIfAborted();
      if (now - begin >= timeoutMs)
        throw new ServiceUnreachableError(service, address, timeoutMs, error);
      if (now >= nextWord) {
        logger.warn(`waiting for ${service} at ${address}: ${words(error)}`);
        nextWord = now + WORD_EVERY_MS;
      }
      await delay(RETRY_PAUSE_MS, undefined, { signal });
    }
  }
}

function hidePassword(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//***@');
}

function words(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : String(error);
}
