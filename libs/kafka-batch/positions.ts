import type { Admin } from 'kafkajs';
import type { LogRange } from './errors.js';

/** The group's committed offset, undefined for none: kafkajs may have committed a negative one after a seek out of range. */
export async function committedOffset(
  admin: Admin,
  groupId: string,
  topic: string,
  partition: number,
): Promise<number | undefined> {
  const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
  const offset = Number(
    found?.partitions.find((entry) => entry.partition === partition)?.offset ?? -1,
  );
  return offset < 0 ? undefined : offset;
}

/** Number of partitions of a topic, 0 when there is no such topic. */
export async function partitionCount(admin: Admin, topic: string): Promise<number> {
  if (!(await admin.listTopics()).includes(topic)) return 0;
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  return topics[0]?.partitions.length ?? 0;
}

/** First offset that a partition holds, and the one that comes next. */
export async function logRange(admin: Admin, topic: string, partition: number): Promise<LogRange> {
  return (await logRanges(admin, topic)).get(partition) ?? { start: 0, end: 0 };
}

/** The same of all partitions, in one request to each of their leaders. */
export async function logRanges(admin: Admin, topic: string): Promise<Map<number, LogRange>> {
  const offsets = await admin.fetchTopicOffsets(topic);
  return new Map(
    offsets.map(({ partition, low, high }) => [
      partition,
      { start: Number(low), end: Number(high) },
    ]),
  );
}

/**
 * By partition, the first offset whose record has a timestamp of `timeMs` or later; the end of the log when none has.
 * Timestamps need not grow along the log: later ones may be earlier.
 */
export async function offsetsAtTime(
  admin: Admin,
  topic: string,
  timeMs: number,
): Promise<Map<number, number>> {
  const time = Math.max(0, Math.ceil(timeMs)); // Kafka has other meanings for negative ones
  const offsets = await admin.fetchTopicOffsetsByTimestamp(topic, time);
  return new Map(offsets.map(({ partition, offset }) => [partition, Number(offset)]));
}
