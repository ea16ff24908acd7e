import { toRecord, type FetchedPartition } from './cluster.js';
import { committedMessages } from './committed-messages.js';
import type { KafkaRecord } from './types.js';

/** What a round brought of one partition: committed data records, perhaps none. `nextOffset` lies behind control and aborted ones, too. */
export interface LogBatch {
  readonly partition: number;
  readonly records: readonly KafkaRecord[];
  readonly nextOffset: number;
}

/**
 * The records of a fetch from an offset on, undefined when it has nothing that lies there. A broker gives whole batches
 * of records: the first one may begin before.
 */
export function logBatch(fetched: FetchedPartition, from: number): LogBatch | undefined {
  const nextOffset = offsetBehind(fetched);
  if (nextOffset <= from) return undefined;
  const records = committedMessages(fetched).map(toRecord);
  const first = records.findIndex(({ offset }) => offset >= from);
  return {
    partition: fetched.partition,
    records: first < 0 ? [] : records.slice(first),
    nextOffset,
  };
}

/** 0 for a fetch of nothing. A batch counts to its own end: compaction may have taken the records there. */
function offsetBehind({ messages }: FetchedPartition): number {
  const last = messages.at(-1);
  if (last === undefined) return 0;
  const { firstOffset = last.offset, lastOffsetDelta = 0 } = last.batchContext;
  return Math.max(Number(last.offset), Number(firstOffset) + lastOffsetDelta) + 1;
}
