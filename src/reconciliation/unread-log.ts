import type { Admin } from 'kafkajs';
import type { Starts } from '#board-store';
import { logRanges } from '#kafka-batch';

/**
 * Where partitions begin that were cut before anything was read of them: a board that begins now begins there, too. A
 * partition of which something was read is none of these: what is gone of it may have been on boards.
 */
export async function startsOfUnreadLog(
  admin: Admin,
  topic: string,
  group: string,
): Promise<Starts> {
  const ranges = await logRanges(admin, topic);
  const [committed] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
  const read = new Set(
    (committed?.partitions ?? [])
      .filter(({ offset }) => Number(offset) > 0)
      .map(({ partition }) => partition),
  );
  return new Map(
    [...ranges]
      .filter(([partition, { start }]) => start > 0 && !read.has(partition))
      .map(([partition, { start }]) => [partition, start]),
  );
}
