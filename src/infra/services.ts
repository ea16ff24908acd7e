import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { withoutPassword, type Settings } from '../config/settings.js';
import { SILENT, type Logger } from './logger.js';

/** Kafka or Redis did not answer in time. */
export class ServiceUnreachableError extends Error {
  constructor({ name, address }: Service, timeoutMs: number, cause: unknown) {
    super(
      `${name} at ${address} did not answer within ${timeoutMs / 1000} s (${reasonOf(cause)}); ` +
        `is it running, and is ${name === 'Kafka' ? 'KAFKA_BROKERS' : 'REDIS_URL'} right?`,
      { cause },
    );
    this.name = 'ServiceUnreachableError';
  }
}

interface Service {
  readonly name: 'Kafka' | 'Redis';
  readonly address: string;
  readonly ping: () => Promise<void>;
}

const RETRY_PAUSE_MS = 250;
const LOG_EVERY_MS = 3_000;

/**
 * Resolves when Kafka and Redis answer. Logs every few seconds which of them does not.
 * @throws ServiceUnreachableError, and the reason of the signal as soon as it is aborted
 */
export async function waitForServices(
  settings: Settings,
  wanted: { kafka?: boolean; redis?: Redis; signal?: AbortSignal | undefined },
  logger: Logger,
): Promise<void> {
  const { kafka = false, redis, signal } = wanted;
  const { startTimeout, kafkaBrokers, redisUrl } = settings;
  const services: Service[] = [];
  const redisAddress = withoutPassword(redisUrl);
  if (redis) services.push({ name: 'Redis', address: redisAddress, ping: () => pingRedis(redis) });
  const brokers = kafkaBrokers.join(',');
  if (kafka) services.push({ name: 'Kafka', address: brokers, ping: () => pingKafka(settings) });
  const waits = services.map((service) => waitFor(service, startTimeout, { logger, signal }));
  const all = Promise.allSettled(waits);
  signal?.throwIfAborted();
  if (signal) await Promise.race([all, once(signal, 'abort')]); // an attempt to connect may take long to fail
  signal?.throwIfAborted();
  const failure = (await all).find((end) => end.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}

async function pingRedis(redis: Redis): Promise<void> {
  if (redis.status === 'wait' || redis.status === 'end') await redis.connect();
  if (redis.status !== 'ready') throw new Error(`not connected, ${redis.status}`);
  await redis.ping();
}

/** Tries once. kafkajs logs nothing, because `waitFor` logs errors. Imports kafkajs here: some commands need no Kafka. */
async function pingKafka(settings: Settings): Promise<void> {
  const { createKafka } = await import('./kafka.js');
  const admin = createKafka(settings, SILENT, 0).admin();
  try {
    await admin.connect();
    await admin.describeCluster();
  } finally {
    await admin.disconnect();
  }
}

async function waitFor(
  service: Service,
  timeoutMs: number,
  { logger, signal }: { logger: Logger; signal: AbortSignal | undefined },
): Promise<void> {
  const start = performance.now();
  let nextLog = start + RETRY_PAUSE_MS;
  for (;;) {
    try {
      await service.ping();
      return;
    } catch (error) {
      const now = performance.now();
      signal?.throwIfAborted();
      if (now - start >= timeoutMs) throw new ServiceUnreachableError(service, timeoutMs, error);
      if (now >= nextLog) {
        logger.warn(`waiting for ${service.name} at ${service.address}: ${reasonOf(error)}`);
        nextLog = now + LOG_EVERY_MS;
      }
      await delay(RETRY_PAUSE_MS, undefined, { signal });
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : String(error);
}
