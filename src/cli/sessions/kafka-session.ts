import { toError } from '#errors';
import { readRanges, type KafkaRecord, type LogBatch, type LogRange } from '#kafka-batch';
import { KafkaConnection } from '../../infra/kafka.js';
import type { Logger } from '../../infra/logger.js';
import { waitForServices } from '../../infra/services.js';
import { passOverSkipped } from '../../infra/skipped-batches.js';
import { ProgressBar } from '../text/progress-bar.js';
import { openSession, type Session } from './session.js';

export type KafkaSession = Session &
  AsyncDisposable &
  Pick<KafkaConnection, 'kafka' | 'admin' | 'topics'>;

/**
 * Opens a Kafka client and a connected admin client.
 * @throws ServiceUnreachableError
 */
export async function openKafka(): Promise<KafkaSession> {
  const session = openSession();
  const { settings, logger } = session;
  await waitForServices(settings, { kafka: true }, logger);
  const { kafka, admin, topics } = new KafkaConnection(settings, logger);
  await admin.connect();
  const close = () => whenClosed(admin.disconnect(), logger);
  return { ...session, kafka, admin, topics, [Symbol.asyncDispose]: close };
}

/**
 * Waits until a connection to Kafka is closed. Logs a failure and does not throw it, as it would
 * hide the error of the command.
 */
export async function whenClosed(closing: Promise<void>, logger: Logger): Promise<void> {
  try {
    await closing;
  } catch (error) {
    logger.warn(`closing a connection to Kafka failed: ${toError(error).message}`, { error });
  }
}

/**
 * Reads ranges of a topic, by default the score topic. Leaves out batches that "ranklog skip" gave
 * up. Shows progress on standard error.
 */
export async function* readWithProgress(
  session: KafkaSession,
  ranges: ReadonlyMap<number, LogRange>,
  topic = session.topics.scoreEvents,
): AsyncGenerator<KafkaRecord> {
  for await (const { records } of readBatches(session, ranges, topic)) yield* records;
}

/** As readWithProgress, but in batches: each has records of one partition. */
export async function* readBatches(
  session: KafkaSession,
  ranges: ReadonlyMap<number, LogRange>,
  topic = session.topics.scoreEvents,
): AsyncGenerator<LogBatch> {
  if (topic === session.topics.scoreEvents) await passOverSkipped(session);
  const { kafka, logger } = session;
  const total = [...ranges.values()].reduce((sum, { start, end }) => sum + end - start, 0);
  using bar = new ProgressBar('records of the log read', total);
  let read = 0;
  for await (const round of readRanges(ranges, { kafka, topic, logger })) {
    yield* round;
    read += round.reduce((sum, { records }) => sum + records.length, 0);
    bar.update(read);
  }
}
