import { LogReader, type KafkaRecord, type LogRange } from '#kafka-batch';
import type { KafkaSession } from './kafka-session.js';
import { ProgressBar } from './progress.js';

/** Reads ranges of the score topic, and maybe some records after their ends, with progress on standard error. */
export async function* readLog(
  { kafka, logger, topics }: KafkaSession,
  ranges: ReadonlyMap<number, LogRange>,
): AsyncGenerator<KafkaRecord> {
  const from = new Map([...ranges].map(([partition, { start }]) => [partition, start]));
  const total = [...ranges.values()].reduce((sum, { start, end }) => sum + end - start, 0);
  const bar = new ProgressBar('records of the log read', total);
  const reader = await LogReader.open({ kafka, topic: topics.scoreEvents, from, logger });
  const isLeft = (partition: number) =>
    (reader.positions.get(partition) ?? 0) < (ranges.get(partition)?.end ?? 0);
  let read = 0;
  try {
    while ([...ranges.keys()].some(isLeft))
      for (const { records } of await reader.fetch(isLeft)) {
        yield* records;
        read += records.length;
        bar.update(read);
      }
  } finally {
    bar.stop();
    await reader.close();
  }
}
