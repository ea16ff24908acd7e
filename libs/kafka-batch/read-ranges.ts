import kafkajs, { type Kafka } from 'kafkajs';
import type { LogBatch } from './committed-messages.js';
import type { LogRange } from './errors.js';
import { LogReader } from './log-reader.js';

const READ_TIMEOUT_MS = 10_000;
/** After this many rounds without a record, though all brokers answered, compaction must have removed the last records. */
const QUIET_ROUNDS = 5;

/**
 * Reads ranges of a topic, and perhaps some records after their ends. Opens connections of its own, if a range is not empty.
 * @throws errors of Kafka, also after 10 s
 */
export async function* readRanges(
  kafka: Kafka,
  topic: string,
  ranges: ReadonlyMap<number, LogRange>,
): AsyncGenerator<LogBatch> {
  const filled = [...ranges].filter(([, { start, end }]) => start < end);
  if (filled.length === 0) return;
  const ends = new Map(filled.map(([partition, { end }]) => [partition, end]));
  const from = new Map(filled.map(([partition, { start }]) => [partition, start]));
  const late = new AbortController();
  const reason = new kafkajs.KafkaJSError(`reading ${topic} took more than 10 s`);
  setTimeout(() => late.abort(reason), READ_TIMEOUT_MS).unref();
  const reader = await LogReader.open({ kafka, topic, from, signal: late.signal });
  try {
    for (let quiet = 0; ends.size > 0 && quiet < QUIET_ROUNDS;) {
      const batches: LogBatch[] = await reader.fetch((partition) => ends.has(partition));
      quiet = batches.length > 0 ? 0 : quiet + Number(!reader.isWaiting);
      for (const { partition, nextOffset } of batches)
        if (nextOffset >= (ends.get(partition) ?? 0)) ends.delete(partition);
      yield* batches;
    }
  } finally {
    await reader.close();
  }
}
