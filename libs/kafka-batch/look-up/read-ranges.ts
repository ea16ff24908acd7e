import type { LogBatch } from '../kafkajs/committed-messages.js';
import type { LogRange } from '../kafkajs/types.js';
import { LogReader, type LogReaderOptions } from './log-reader.js';

/**
 * Reads the committed records of ranges of a topic with its own LogReader, and yields its rounds. A
 * round without batches means that all brokers answered, but no record can be read now.
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
      const unfinished = new Set<number>();
      for (const [partition, position] of reader.positions)
        if (position < endOf(partition)) unfinished.add(partition);
      if (unfinished.size === 0) return;

      const round = await reader.fetch(unfinished);
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
