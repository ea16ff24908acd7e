import type { Message } from 'kafkajs';

/** kafkajs groups the messages of a send in quadratic time: 20,000 take more than a second. */
const MOST_MESSAGES = 2_000;

/**
 * kafkajs makes one Kafka batch of a partition's messages in a send, and the broker's limit (max.message.bytes,
 * 1 MiB by default) is for the batch: so a chunk stays well below, unless a single message is larger.
 */
const MOST_BYTES = 512 * 1_024;

/** What Kafka adds to a message at most: lengths, timestamp, offset. */
const MESSAGE_OVERHEAD = 32;

/** Messages in order, cut into chunks that one send can take; `mostBytes` is less for a topic that takes less. */
export function sendChunks(messages: readonly Message[], mostBytes = MOST_BYTES): Message[][] {
  const most = Math.min(mostBytes, MOST_BYTES);
  const chunks: Message[][] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = messageBytes(message);
    const open = chunks.at(-1);
    if (open === undefined || open.length === MOST_MESSAGES || bytes + size > most) {
      chunks.push([message]);
      bytes = size;
    } else {
      open.push(message);
      bytes += size;
    }
  }
  return chunks;
}

function messageBytes({ key, value, headers = {} }: Message): number {
  let bytes = MESSAGE_OVERHEAD + length(key) + length(value);
  for (const [name, text] of Object.entries(headers))
    for (const one of [text].flat()) bytes += length(name) + length(one) + 4;
  return bytes;
}

function length(part: Buffer | string | null | undefined): number {
  if (part === null || part === undefined) return 0;
  return typeof part === 'string' ? Buffer.byteLength(part) : part.length;
}
