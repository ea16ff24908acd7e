import type { Admin, Kafka } from 'kafkajs';
import type { BoardReader } from '#board-store';
import { lastCommittedRecord } from '#kafka-batch';

/** How far a partition of the score topic is: offsets of what comes next. `lag` counts what is not published yet. */
export interface PartitionPosition {
  readonly partition: number;
  readonly logEnd: number;
  /** Behind the last committed record. Markers of transactions, and those that are still open, have nothing to publish. */
  readonly committedEnd: number;
  readonly applied: number;
  readonly published: number;
  readonly lag: number;
}

/** Where the group and the boards stand. */
export type Progress = Pick<PartitionPosition, 'applied' | 'published'>;

interface Where {
  readonly topic: string;
  readonly group: string;
}

const NOTHING: Progress = { applied: 0, published: 0 };

/**
 * The position of every partition, by number. Cost: three requests, and for a partition that is not published to the end
 * a connection and a search for its last record.
 */
export async function readPositions(
  { kafka, admin }: { kafka: Kafka; admin: Admin },
  reader: BoardReader,
  where: Where,
): Promise<PartitionPosition[]> {
  const { topic } = where;
  const [ends, progress] = await Promise.all([
    admin.fetchTopicOffsets(topic),
    readProgress(admin, reader, where),
  ]);
  const positions = ends.map(async ({ partition, high }) => {
    const logEnd = Number(high);
    const { applied, published } = progress.get(partition) ?? NOTHING;
    const committedEnd =
      published < logEnd ? await behindLastRecord(kafka, topic, partition) : logEnd;
    const lag = Math.max(0, committedEnd - published);
    return { partition, logEnd, committedEnd, applied, published, lag };
  });
  return (await Promise.all(positions)).sort((a, b) => a.partition - b.partition);
}

/** How far the partitions are, of those that are begun. Cost: two requests. */
export async function readProgress(
  admin: Admin,
  reader: BoardReader,
  { topic, group }: Where,
): Promise<Map<number, Progress>> {
  const [[committed], applied] = await Promise.all([
    admin.fetchOffsets({ groupId: group, topics: [topic] }),
    reader.appliedOffsets(),
  ]);
  return new Map(
    committed?.partitions.map(({ partition, offset }) => [
      partition,
      { applied: applied.get(partition) ?? 0, published: Math.max(0, Number(offset)) },
    ]),
  );
}

async function behindLastRecord(kafka: Kafka, topic: string, partition: number): Promise<number> {
  const last = await lastCommittedRecord(kafka, topic, partition);
  return last === undefined ? 0 : last.offset + 1;
}
