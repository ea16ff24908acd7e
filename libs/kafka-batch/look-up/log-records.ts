import type { Kafka } from 'kafkajs';
import { UnreadableBatchError } from '../kafkajs/kafka-errors.js';
import type { LogBatch } from '../kafkajs/committed-messages.js';
import type { KafkaRecord, LogRange, TopicPartition } from '../kafkajs/types.js';
import type { LeaderLookups, LogPosition } from './leader-lookups.js';
import { leaderOf, withLeaders } from './shared-leaders.js';

const FIRST_STRIDE = 64;

/**
 * The last committed data record of a partition, if there is one. Searches backwards over control
 * and aborted records, in strides that double. Needs no group.
 */
export function lastCommittedRecord(
  kafka: Kafka,
  topic: string,
  partition: number,
): Promise<KafkaRecord | undefined> {
  return withLeaders(kafka, topic, async (leaders) => {
    const leader = leaders.get(partition);
    if (leader === undefined) return undefined;

    const { start, end } = await leader.range({ topic, partition });
    let to = end;
    for (let stride = FIRST_STRIDE; to > start; stride *= 2) {
      const from = Math.max(start, to - stride);
      const found = await lastRecord(leader, { topic, partition, offset: from });
      if (found !== undefined) return found;
      to = from;
    }
    return undefined;
  });
}

/** The last committed data record at or after an offset. */
async function lastRecord(
  leader: LeaderLookups,
  from: LogPosition,
): Promise<KafkaRecord | undefined> {
  let last: KafkaRecord | undefined;
  let { offset } = from;
  for (;;) {
    const batch = await leader.fetch({ ...from, offset });
    if (batch === undefined) return last;
    last = batch.records.at(-1) ?? last;
    offset = batch.nextOffset;
  }
}

/**
 * The committed data records in the last `offsets` offsets of a partition; of fewer, if these hold
 * more than 1 MiB: tries half as many until the response reaches the end of the partition. A record
 * of more than 1 MiB is returned only if it is the last one. Ends before a batch that can't be
 * read.
 */
export function lastRecords(
  kafka: Kafka,
  topic: string,
  partition: number,
  offsets: number,
): Promise<readonly KafkaRecord[]> {
  return withLeaders(kafka, topic, async (leaders) => {
    const leader = leaders.get(partition);
    if (leader === undefined) return [];

    const { start, end } = await leader.range({ topic, partition });
    let records: readonly KafkaRecord[] = [];
    for (let stride = Math.min(offsets, end - start); stride >= 1; stride /= 2) {
      const offset = end - Math.floor(stride);
      const batch = await leader.fetch({ topic, partition, offset }).catch(orUnreadable);
      if (batch instanceof UnreadableBatchError) break;
      if (batch === undefined) continue;

      if (batch.records.length > 0) records = batch.records;
      if (batch.nextOffset >= end) break;
    }
    return records;
  });
}

/** The range of a partition, its record at an offset, and the topic's number of partitions. */
export interface PartitionLook {
  readonly partitions: number;
  readonly range: LogRange;
  readonly record: KafkaRecord | undefined;
}

/**
 * Reads the range of a partition and its record at an offset, from its leader alone.
 * @throws if there is no such partition
 */
export function lookAt(
  kafka: Kafka,
  { topic, partition, offset }: TopicPartition & { readonly offset: number | undefined },
): Promise<PartitionLook> {
  return withLeaders(kafka, topic, async (leaders) => {
    const leader = leaderOf(leaders, { topic, partition });
    const range = await leader.range({ topic, partition });
    const partitions = leaders.size;
    if (offset === undefined || offset < range.start || offset >= range.end)
      return { range, partitions, record: undefined };

    const batch = await leader.fetch({ topic, partition, offset });
    const record = batch?.records.find((found) => found.offset === offset);
    return { range, partitions, record };
  });
}

/**
 * The committed records of a partition at ascending offsets. Skips offsets without a record. Reads
 * each part of the log at most once, up to 1 MiB for each offset.
 */
export function recordsAt(
  kafka: Kafka,
  { topic, partition }: TopicPartition,
  offsets: readonly number[],
): Promise<KafkaRecord[]> {
  return withLeaders(kafka, topic, async (leaders) => {
    const leader = leaders.get(partition);
    if (leader === undefined) return [];

    const { start, end } = await leader.range({ topic, partition });
    const records: KafkaRecord[] = [];
    let batch: LogBatch | undefined;
    for (const offset of offsets) {
      if (offset < start || offset >= end) continue;
      if (batch === undefined || offset >= batch.nextOffset)
        batch = await leader.fetch({ topic, partition, offset });
      const record = batch?.records.find((found) => found.offset === offset);
      if (record !== undefined) records.push(record);
    }
    return records;
  });
}

/**
 * Looks for a batch that can't be read, at which a reader would stop that continues at an offset.
 * Returns undefined if the reader would find a record first, or the end of the log.
 * @throws if there is no such partition
 */
export function unreadableFrom(
  kafka: Kafka,
  from: LogPosition,
): Promise<UnreadableBatchError | undefined> {
  return withLeaders(kafka, from.topic, async (leaders) => {
    const leader = leaderOf(leaders, from);
    const { start } = await leader.range(from);
    let offset = Math.max(from.offset, start);
    for (;;) {
      const batch = await leader.fetch({ ...from, offset }).catch(orUnreadable);
      if (batch instanceof UnreadableBatchError) return batch;
      if (batch === undefined || batch.records.length > 0) return undefined;
      offset = batch.nextOffset;
    }
  });
}

/**
 * Returns the error of a read that met a batch that can't be read.
 * @throws any other error
 */
export function orUnreadable(error: unknown): UnreadableBatchError {
  if (error instanceof UnreadableBatchError) return error;
  throw error;
}
