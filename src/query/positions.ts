import type { Admin } from 'kafkajs';
import type { BoardReader } from '#board-store';

/** How far a partition of the score topic is: offsets of what comes next. `lag` counts what is not published yet. */
export interface PartitionPosition {
  readonly partition: number;
  readonly logEnd: number;
  readonly applied: number;
  readonly published: number;
  readonly lag: number;
}

/** The position of every partition, by number. Cost: three requests. */
export async function readPositions(
  admin: Admin,
  reader: BoardReader,
  { topic, group }: { topic: string; group: string },
): Promise<PartitionPosition[]> {
  const [ends, [committed], applied] = await Promise.all([
    admin.fetchTopicOffsets(topic),
    admin.fetchOffsets({ groupId: group, topics: [topic] }),
    reader.appliedOffsets(),
  ]);
  const published = new Map(
    committed?.partitions.map(({ partition, offset }) => [partition, Math.max(0, Number(offset))]),
  );
  return ends
    .map(({ partition, high }) => {
      const logEnd = Number(high);
      const position = published.get(partition) ?? 0;
      const lag = Math.max(0, logEnd - position);
      return { partition, logEnd, applied: applied.get(partition) ?? 0, published: position, lag };
    })
    .sort((a, b) => a.partition - b.partition);
}
