import type { Admin } from 'kafkajs';

/**
 * Where a group begins in partitions that it has no position in. To be read before the subscriber joins the group:
 * what is published from then on belongs to it.
 */
export class StartPositions {
  private constructor(private readonly ends: ReadonlyMap<number, number>) {}

  /** A group that has read of the topic misses none of it: only a new one may begin at the end. */
  static async read(
    admin: Admin,
    { groupId, topic, fromBeginning }: { groupId: string; topic: string; fromBeginning: boolean },
  ): Promise<StartPositions> {
    if (fromBeginning || (await isKnown(admin, groupId, topic)))
      return new StartPositions(new Map());
    const offsets = await admin.fetchTopicOffsets(topic);
    return new StartPositions(
      new Map(offsets.map(({ partition, high }) => [partition, Number(high)])),
    );
  }

  /** Undefined: at the first result that the partition has, as for a partition that came later. */
  of(partition: number): number | undefined {
    return this.ends.get(partition);
  }
}

async function isKnown(admin: Admin, groupId: string, topic: string): Promise<boolean> {
  const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
  return found?.partitions.some(({ offset }) => Number(offset) >= 0) ?? false;
}
