import type { KafkaMessage } from 'kafkajs';
import type { FetchedPartition, RawMessage } from 'kafkajs/src/broker/index.js';
import { unreadableBatch } from './fetch-decoder.js';
import { EncodedHeaders, type DecodedHeaders } from './record-headers.js';
import type { KafkaRecord } from './types.js';

/**
 * Committed records of one partition, perhaps none. `nextOffset` counts control, aborted and
 * compacted records, too.
 */
export interface LogBatch {
  readonly partition: number;
  readonly records: readonly KafkaRecord[];
  readonly nextOffset: number;
}

/**
 * The committed records of a fetch, from an offset on; undefined if the fetch ends before it.
 * @throws UnreadableBatchError if the fetch begins with such a batch
 */
export function logBatch(fetched: FetchedPartition, from: number): LogBatch | undefined {
  const last = fetched.messages.at(-1);
  if (last === undefined) {
    const unreadable = unreadableBatch(fetched.messages);
    if (unreadable !== undefined) throw unreadable;
    return undefined;
  }

  // Compaction may have removed the last records of the last batch.
  const { firstOffset = last.offset, lastOffsetDelta = 0 } = last.batchContext;
  const nextOffset = Math.max(Number(last.offset), Number(firstOffset) + lastOffsetDelta) + 1;
  if (nextOffset <= from) return undefined;

  const records: KafkaRecord[] = [];
  for (const message of fetched.messages) {
    if (message.isControlRecord) continue;
    const record = toRecord(message);
    // A broker returns whole batches, which may begin before `from`.
    if (record.offset >= from) records.push(record);
  }
  return { partition: fetched.partition, records, nextOffset };
}

/**
 * Marks the records of aborted transactions as control records. A transaction has the records of
 * its producer from its first offset to the next control record of the producer. A user's record
 * may have the key of an abort marker, so keys are not compared.
 */
export function markAborted(fetched: Omit<FetchedPartition, 'partition'>): void {
  const descending = (fetched.abortedTransactions ?? []).toSorted(
    (one, other) => Number(other.firstOffset) - Number(one.firstOffset),
  );
  if (descending.length === 0) return;
  const open = new Set<string>();
  let next = descending.pop();
  for (const message of fetched.messages) {
    while (next !== undefined && Number(next.firstOffset) <= Number(message.offset)) {
      open.add(next.producerId);
      next = descending.pop();
    }
    const { producerId } = message.batchContext;
    if (message.isControlRecord) open.delete(producerId);
    else message.isControlRecord = open.has(producerId);
  }
}

/** A record whose headers are decoded when they are read. */
class FetchedRecord implements KafkaRecord {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly encodedHeaders: EncodedHeaders;
  #headers: DecodedHeaders | undefined;

  constructor({ offset, timestamp, key, value, headers }: RawMessage | KafkaMessage) {
    this.offset = Number(offset);
    this.timestamp = Number(timestamp);
    this.key = key;
    this.value = value;
    // Old formats have no headers; `patchKafkajs` keeps others encoded.
    this.encodedHeaders = (headers as unknown as EncodedHeaders | undefined) ?? EncodedHeaders.none;
  }

  get headers(): DecodedHeaders {
    this.#headers ??= this.encodedHeaders.decode();
    return this.#headers;
  }
}

/** A kafkajs message with offset and timestamp as numbers. */
export function toRecord(message: RawMessage | KafkaMessage): KafkaRecord {
  return new FetchedRecord(message);
}
