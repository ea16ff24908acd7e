import { logRanges, readRanges, writtenEnd, type KafkaRecord, type LogRange } from '#kafka-batch';
import { requireTopics } from '../infra/topics.js';
import type { KafkaSession } from './kafka-session.js';
import { ProgressBar } from './progress.js';

/** The ranges of the score topic with what open transactions hold back: a read of it waits until they end. @throws TopicsMissingError */
export async function writtenRanges({ kafka, admin, topics }: KafkaSession) {
  const topic = topics.scoreEvents;
  await requireTopics(admin, [topic]);
  const ranges = await logRanges(admin, topic);
  for (const [partition, { start }] of ranges)
    ranges.set(partition, { start, end: await writtenEnd(kafka, topic, partition) });
  return ranges;
}

/** Reads ranges of a topic, by default the score topic, and maybe some records after their ends; shows progress on standard error. */
export async function* readLog(
  { kafka, logger, topics }: KafkaSession,
  ranges: ReadonlyMap<number, LogRange>,
  topic = topics.scoreEvents,
): AsyncGenerator<KafkaRecord> {
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
