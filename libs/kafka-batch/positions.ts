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
  const offsets = await admin.fetchTopicOffsets(topic);
  const found = offsets.find((entry) => entry.partition === partition);
  return { start: Number(found?.low ?? 0), end: Number(found?.high ?? 0) };
}
