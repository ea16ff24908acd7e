import { readRanges, type KafkaRecord, type LogRange } from '#kafka-batch';
import type { KafkaSession } from './kafka-session.js';
import { ProgressBar } from './progress.js';

/** Reads ranges of the score topic, and maybe some records after their ends, with progress on standard error. */
export async function* readLog(
  { kafka, logger, topics: { scoreEvents: topic } }: KafkaSession,
  ranges: ReadonlyMap<number, LogRange>,
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
