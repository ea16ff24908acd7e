import type { LogBatch } from '../kafkajs/committed-messages.js';
import type { LogRange } from '../kafkajs/types.js';
import { LogReader, type LogReaderOptions } from './log-reader.js';

/**
 * Reads the committed records of ranges of a topic, by a reader of its own. Returns the rounds; one
 * without batches shows that, though all brokers answered, no record is readable now.
 */
export async function* readRanges(
  ranges: ReadonlyMap<number, LogRange>,
  options: Omit<LogReaderOptions, 'from'>,
): AsyncGenerator<LogBatch[]> {
  const from = new Map([...ranges].map(([partition, { start }]) => [partition, start]));
  const endOf = (partition: number) => ranges.get(partition)?.end ?? 0;
  const reader = await LogReader.open({ ...options, from });
  try {
    for (;;) {
      const left = [...reader.positions].filter(([partition, at]) => at < endOf(partition));
      if (left.length === 0) return;
      const round = await reader.fetch(new Set(left.map(([partition]) => partition)));
      if (round.length > 0 || !reader.isWaiting)
        yield round.map((batch) => upTo(endOf(batch.partition), batch));
    }
  } finally {
    await reader.close();
  }
}

/** A broker returns whole batches, also when a range ends in the middle of one. */
function upTo(end: number, batch: LogBatch): LogBatch {
  if (batch.nextOffset <= end) return batch;
  const records = batch.records.filter(({ offset }) => offset < end);
  return { ...batch, records, nextOffset: end };
}
