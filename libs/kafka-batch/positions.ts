import kafkajs, { type Admin, type Kafka } from 'kafkajs';
import { Batched, perClient } from './batched.js';
import { createCluster } from './cluster.js';
import type { LogRange } from './errors.js';

/** The group's committed offset, undefined for none. */
export async function committedOffset(
  admin: Admin,
  groupId: string,
  topic: string,
  partition: number,
): Promise<number | undefined> {
  return (await committedOffsets(admin, groupId, topic)).get(partition);
}

/** All committed offsets, by partition. Skips negative ones, which kafkajs may commit after a seek out of range. */
export async function committedOffsets(
  admin: Admin,
  groupId: string,
  topic: string,
): Promise<Map<number, number>> {
  const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
  return new Map(
    found?.partitions
      .map(({ partition, offset }) => [partition, Number(offset)] as const)
      .filter(([, offset]) => offset >= 0),
  );
}

const countsOf = perClient(
  (kafka: Kafka) => new Batched((topics: readonly string[]) => partitionCounts(kafka, topics)),
);

/** Number of partitions of a topic, 0 when there is no such topic. */
export async function partitionCount(kafka: Kafka, topic: string): Promise<number> {
  try {
    return (await countsOf(kafka).get(topic)) ?? 0;
  } catch (error) {
    if (
      error instanceof kafkajs.KafkaJSProtocolError &&
      error.type === 'UNKNOWN_TOPIC_OR_PARTITION'
    )
      return 0;
    throw error;
  }
}

/** Over its own connection: an admin client may answer from its cache. */
async function partitionCounts(
  kafka: Kafka,
  topics: readonly string[],
): Promise<Map<string, number>> {
  const cluster = createCluster(kafka);
  await cluster.connect();
  try {
    await cluster.addMultipleTargetTopics(topics);
    return new Map(
      topics.map((topic) => [topic, cluster.findTopicPartitionMetadata(topic).length]),
    );
  } finally {
    await cluster.disconnect();
  }
}

/** By partition, its first offset and the one that comes next. One request to each leader. */
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
