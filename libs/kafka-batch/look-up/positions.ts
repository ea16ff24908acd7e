import { setTimeout as delay } from 'node:timers/promises';
import type { Admin } from 'kafkajs';
import { Backoff } from '../kafkajs/backoff.js';
import { isBusy } from '../kafkajs/kafka-errors.js';

/** A new cluster creates the topic of its groups at the first request for a group. */
const COORDINATOR_TIMEOUT_MS = 15_000;

/**
 * The group's committed offsets by partition. Leaves out negative ones: nothing was committed, or
 * kafkajs lost it. Asks again while the coordinator of the group is not ready; kafkajs does not.
 */
export async function committedOffsets(
  admin: Admin,
  groupId: string,
  topic: string,
): Promise<Map<number, number>> {
  const [deadline, backoff] = [performance.now() + COORDINATOR_TIMEOUT_MS, new Backoff()];
  for (;;)
    try {
      const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
      return new Map(
        found?.partitions
          .map(({ partition, offset }) => [partition, Number(offset)] as const)
          .filter(([, offset]) => offset >= 0),
      );
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      await delay(backoff.next());
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
