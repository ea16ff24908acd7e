import type { Admin, Kafka } from 'kafkajs';
import { committedOffsets, lastCommittedRecord, logEnds } from '#kafka-batch';

/** Positions in a partition of the score topic: each is the offset after the last one that it includes, so 0 includes none. */
export interface PartitionPosition {
  readonly partition: number;
  readonly logEnd: number;
  /** The offset after the last committed record. Transaction markers and open transactions after it have nothing to publish. */
  readonly committedEnd: number;
  readonly published: number;
  readonly lag: number; // offsets that are not published, up to `committedEnd`
}

/** By number. Cost: two requests to each leader; and for each partition that lags, a connection and a search for its end. */
export async function readPositions(
  { kafka, admin }: { kafka: Kafka; admin: Admin },
  { topic, group }: { topic: string; group: string },
): Promise<PartitionPosition[]> {
  const [ends, committed] = await Promise.all([
    logEnds(admin, topic),
    committedOffsets(admin, group, topic),
  ]);
  const positions = [...ends].map(async ([partition, logEnd]) => {
    const published = committed.get(partition) ?? 0;
    const last = published < logEnd && (await lastCommittedRecord(kafka, topic, partition));
    const committedEnd = last === false ? logEnd : (last?.offset ?? -1) + 1;
    const lag = Math.max(0, committedEnd - published);
    return { partition, logEnd, committedEnd, published, lag };
  });
  return (await Promise.all(positions)).sort((a, b) => a.partition - b.partition);
}
