import { setTimeout as delay } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import { Backoff } from '../kafkajs/backoff.js';
import { isBusy } from '../kafkajs/kafka-errors.js';

/** A new cluster creates the topic of its groups at the first request for a group. */
const COORDINATOR_TIMEOUT_MS = 15_000;

/** `metadata` is the text that was committed with the offset, '' for none. */
interface CommittedOffset {
  readonly offset: number;
  readonly metadata: string;
}

/** The group's committed offsets by partition. */
export async function committedOffsets(
  admin: Admin,
  groupId: string,
  topic: string,
): Promise<Map<number, number>> {
  const committed = await committedWithMetadata(admin, groupId, topic);
  return new Map([...committed].map(([partition, { offset }]) => [partition, offset]));
}

/**
 * The group's committed offsets by partition. Leaves out negative ones: nothing was committed, or
 * kafkajs lost it. Asks again while the coordinator of the group is not ready; kafkajs does not.
 */
export async function committedWithMetadata(
  admin: Admin,
  groupId: string,
  topic: string,
): Promise<Map<number, CommittedOffset>> {
  const deadline = performance.now() + COORDINATOR_TIMEOUT_MS;
  const backoff = new Backoff();
  for (;;) {
    try {
      const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
      const committed = new Map<number, CommittedOffset>();
      for (const { partition, offset, metadata } of found?.partitions ?? []) {
        if (Number(offset) < 0) continue;
        committed.set(partition, { offset: Number(offset), metadata: metadata ?? '' });
      }
      return committed;
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      await delay(backoff.next());
    }
  }
}

/**
 * By partition, the first offset whose record has a timestamp of `timeMs` or later, or the end of
 * the log. Timestamps need not increase along the log.
 */
export async function offsetsAtTime(
  admin: Admin,
  topic: string,
  timeMs: number,
): Promise<Map<number, number>> {
  const time = Math.max(0, Math.ceil(timeMs)); // negative times have other meanings in Kafka
  const offsets = await admin.fetchTopicOffsetsByTimestamp(topic, time);
  return new Map(offsets.map(({ partition, offset }) => [partition, Number(offset)]));
}
