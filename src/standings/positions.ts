import type { Admin, Kafka } from 'kafkajs';
import type { StoreStatus } from '#board-store';
import { lastCommittedRecord } from '#kafka-batch';

/** Positions in a partition of the score topic: each is the offset after the last one that it includes, so 0 includes none. */
export interface PartitionPosition {
  readonly partition: number;
  readonly logEnd: number;
  /** The offset after the last committed record. Transaction markers and open transactions after it have nothing to publish. */
  readonly committedEnd: number;
  readonly applied: number;
  readonly published: number;
  readonly lag: number; // offsets that are not published, up to `committedEnd`
}

export type Progress = Pick<PartitionPosition, 'applied' | 'published'>;

interface TopicAndGroup {
  readonly topic: string;
  readonly group: string;
}

/**
 * The position of every partition, by number. Cost: two requests to each leader, and those of `readProgress`; and, for each
 * partition that is not published to its end, a connection and a search for the last record.
 */
export async function readPositions(
  { kafka, admin }: { kafka: Kafka; admin: Admin },
  status: StoreStatus,
  names: TopicAndGroup,
): Promise<PartitionPosition[]> {
  const { topic } = names;
  const [ends, progress] = await Promise.all([
    admin.fetchTopicOffsets(topic),
    readProgress(admin, status, names),
  ]);
  const positions = ends.map(async ({ partition, high }) => {
    const logEnd = Number(high);
    const { applied, published } = progress.get(partition) ?? { applied: 0, published: 0 };
    const last = published < logEnd && (await lastCommittedRecord(kafka, topic, partition));
    const committedEnd = last === false ? logEnd : (last?.offset ?? -1) + 1;
    const lag = Math.max(0, committedEnd - published);
    return { partition, logEnd, committedEnd, applied, published, lag };
  });
  return (await Promise.all(positions)).sort((a, b) => a.partition - b.partition);
}

/** The progress of the topic's partitions. Cost: a request to the group's coordinator, one to each shard, and one more to Redis. */
export async function readProgress(
  admin: Admin,
  status: StoreStatus,
  { topic, group }: TopicAndGroup,
): Promise<Map<number, Progress>> {
  const [[committed], applied] = await Promise.all([
    admin.fetchOffsets({ groupId: group, topics: [topic] }),
    status.appliedOffsets(),
  ]);
  return new Map(
    committed?.partitions.map(({ partition, offset }) => [
      partition,
      { applied: applied.get(partition) ?? 0, published: Math.max(0, Number(offset)) },
    ]),
  );
}
