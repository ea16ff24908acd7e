import type { Message } from 'kafkajs';
import { recordBytes } from '#contracts';
import { partitionOf } from '#kafka-batch';

/**
 * kafkajs groups the messages of a send in quadratic time: 20,000 messages take more than a second.
 */
const MAX_MESSAGES = 2_000;

/**
 * kafkajs sends a partition's messages as one Kafka batch, and the broker limits the batch
 * (max.message.bytes, 1 MiB by default). A chunk stays well below that, unless a single message is
 * larger.
 */
const MAX_BYTES = 512 * 1_024;

/** Splits messages into chunks for one send each, in order. */
export function sendChunks(messages: readonly Message[]): Message[][] {
  const chunks: Message[][] = [];
  let bytes = 0;
  for (const message of messages) {
    const { key = null, value, headers = {} } = message;
    const size = recordBytes({ key, value, headers });
    const open = chunks.at(-1);
    if (open === undefined || open.length === MAX_MESSAGES || bytes + size > MAX_BYTES) {
      chunks.push([message]);
      bytes = size;
    } else {
      open.push(message);
      bytes += size;
    }
  }
  return chunks;
}

/** The messages by the partitions of their keys, in order. */
export function byPartition(
  messages: readonly Message[],
  partitions: number,
): Map<number, Message[]> {
  const parts = new Map<number, Message[]>();
  for (const message of messages) {
    const partition = partitionOf(String(message.key), partitions);
    const part = parts.get(partition);
    if (part === undefined) parts.set(partition, [message]);
    else part.push(message);
  }
  return parts;
}
