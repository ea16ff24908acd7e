import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { RedisClient } from '#board-store';
import { RanklogError } from '#errors';
import { withoutPassword } from '#redis-url';
import { SettingsError, type Settings } from '../config/settings.js';
import { SILENT, type Logger } from './logger.js';
import { settingsRefusal, tlsRefusal, type Server } from './refusals.js';

/** Kafka or Redis did not answer in time. */
export class ServiceUnreachableError extends RanklogError {
  constructor({ name, address }: Service, timeoutMs: number, cause: unknown) {
    super(
      `${name} at ${address} did not answer within ${timeoutMs / 1000} s (${reasonOf(cause)}); ` +
        `is it running, and is ${name === 'Kafka' ? 'KAFKA_BROKERS' : 'REDIS_URL'} right?`,
      { cause },
    );
  }
}

interface Service {
  readonly name: Server;
  readonly address: string;
  readonly ping: () => Promise<void>;
}

const RETRY_PAUSE_MS = 250;
const LOG_EVERY_MS = 3_000;
/** If a server takes longer to answer, its use of TLS may differ from the settings. */
const PATIENCE_MS = 500;

/**
 * Resolves when Kafka and Redis answer. Logs every few seconds which server does not answer.
 * @throws SettingsError if a server refuses the settings, ServiceUnreachableError, and the reason
 * of the signal once it is aborted
 */
export async function waitForServices(
  settings: Settings,
  wanted: { kafka?: boolean; redis?: RedisClient; signal?: AbortSignal | undefined },
  logger: Logger,
): Promise<void> {
  const { kafka = false, redis, signal } = wanted;
  const services: Service[] = [];
  if (redis !== undefined) {
    const address = withoutPassword(settings.redisUrl);
    services.push({ name: 'Redis', address, ping: pingOf(redis) });
  }
  if (kafka) {
    const address = settings.kafkaBrokers.join(',');
    services.push({ name: 'Kafka', address, ping: () => pingKafka(settings) });
  }
  signal?.throwIfAborted();

  const ended = new AbortController();
  const end = AbortSignal.any([ended.signal, ...(signal ? [signal] : [])]);
  const all = Promise.all(services.map((service) => waitFor(service, settings, { logger, end })));
  try {
    await Promise.race([all, once(end, 'abort')]); // an attempt to connect may take long to fail
    signal?.throwIfAborted();
  } finally {
    ended.abort();
  }
}

function pingOf(redis: RedisClient): () => Promise<void> {
  let refusal: Error | undefined; // commands say only that the client is not connected
  redis.on('error', (error: Error) => {
    if (error.name === 'ReplyError' || /certificate|alert/.test(error.message)) refusal = error;
  });
  return async () => {
    if (redis.status === 'wait' || redis.status === 'end') await connected(redis);
    if (redis.status !== 'ready') throw refusal ?? new Error(`not connected, ${redis.status}`);
    await redis.ping();
  };
}

/**
 * Resolves when the first attempt to connect has ended. `connect` of a cluster never ends if the
 * node that it asks last does not answer, but the client tries again on its own.
 */
async function connected(redis: RedisClient): Promise<void> {
  const closed = new Promise<void>((resolve) => redis.once('close', () => resolve()));
  await Promise.race([redis.connect().catch(() => undefined), closed]);
}

/**
 * Connects to Kafka, without a retry. kafkajs logs nothing, because `waitFor` logs the errors.
 * `isProbe`: finds out whether Kafka requires SASL.
 */
async function pingKafka(settings: Settings, isProbe = false): Promise<void> {
  const { createKafka } = await import('./kafka.js'); // some commands need no Kafka
  const admin = createKafka(settings, SILENT, 0).admin();
  try {
    await admin.connect();
    await admin.describeCluster();
  } catch (error) {
    // A listener with SASL closes the connection of a client without a login. If the client names
    // an unknown mechanism instead, the listener answers that it does not support the mechanism.
    const { name, type } = error as Error & { type?: unknown };
    if (isProbe && type !== 'UNSUPPORTED_SASL_MECHANISM') return;
    if (settings.kafkaSaslMechanism === '' && name === 'KafkaJSConnectionClosedError')
      await pingKafka({ ...settings, kafkaSaslMechanism: 'none' as 'plain' }, true);
    throw error;
  } finally {
    await admin.disconnect();
  }
}

/** Pings a service until it answers, or until `startTimeout` is over. */
async function waitFor(
  service: Service,
  settings: Settings,
  { logger, end }: { logger: Logger; end: AbortSignal },
): Promise<void> {
  const { name, address } = service;
  const { startTimeout } = settings;
  const start = performance.now();
  let nextLog = start + RETRY_PAUSE_MS;
  let ping: Promise<void> | undefined;

  for (;;) {
    try {
      ping ??= service.ping().finally(() => (ping = undefined));
      const late = delay(PATIENCE_MS, 'no answer yet', { ref: false });
      const problem = await Promise.race([ping, late]);
      if (problem === undefined) return;
      throw new Error(problem);
    } catch (error) {
      const now = performance.now();
      end.throwIfAborted();

      const refusal =
        settingsRefusal(error, `${name} at ${address}`, settings) ??
        (await tlsRefusal(name, settings));
      if (refusal !== undefined) throw new SettingsError([refusal]);
      if (now - start >= startTimeout)
        throw new ServiceUnreachableError(service, startTimeout, error);

      if (now >= nextLog) {
        logger.warn(`waiting for ${name} at ${address}: ${reasonOf(error)}`);
        nextLog = now + LOG_EVERY_MS;
      }
      await delay(RETRY_PAUSE_MS, undefined, { signal: end });
    }
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : String(error);
}
