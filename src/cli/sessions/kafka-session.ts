import { readRanges, type KafkaRecord, type LogRange } from '#kafka-batch';
import { passOverSkipped } from '../../infra/skipped-batches.js';
import { KafkaConnection } from '../../infra/kafka.js';
import { waitForServices } from '../../infra/services.js';
import { ProgressBar } from '../text/progress-bar.js';
import { openSession, type Session } from './session.js';

export type KafkaSession = Session & Pick<KafkaConnection, 'kafka' | 'admin' | 'topics'>;

/**
 * Runs `use` with a Kafka client and a connected admin client, then closes them.
 * @throws ServiceUnreachableError
 */
export async function withKafka<T>(use: (session: KafkaSession) => Promise<T>): Promise<T> {
  const session = openSession();
  const { settings, logger } = session;
  await waitForServices(settings, { kafka: true }, logger);
  const { kafka, admin, topics } = new KafkaConnection(settings, logger);
  await admin.connect();
  try {
    return await use({ ...session, kafka, admin, topics });
  } finally {
    await admin.disconnect();
  }
}

/** Reads ranges of a topic, by default the score topic; shows progress on standard error. */
export async function* readWithProgress(
  session: KafkaSession,
  ranges: ReadonlyMap<number, LogRange>,
  topic = session.topics.scoreEvents,
): AsyncGenerator<KafkaRecord> {
  if (topic === session.topics.scoreEvents) await passOverSkipped(session);
  const { kafka, logger } = session;
  const total = [...ranges.values()].reduce((sum, { start, end }) => sum + end - start, 0);
  const bar = new ProgressBar('records of the log read', total);
  let read = 0;
  try {
    for await (const round of readRanges(ranges, { kafka, topic, logger })) {
      const records = round.flatMap((batch) => batch.records);
      yield* records;
      read += records.length;
      bar.update(read);
    }
  } finally {
    bar.stop();
  }
}
