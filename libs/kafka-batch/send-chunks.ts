import type { Message } from 'kafkajs';

/** kafkajs groups the messages of a send in quadratic time: 20,000 messages take more than a second. */
const MAX_MESSAGES = 2_000;

/**
 * kafkajs sends a partition's messages as one Kafka batch, and the broker limits the batch (max.message.bytes, 1 MiB by
 * default). A chunk stays well below that, unless a single message is larger.
 */
const MAX_BYTES = 512 * 1_024;

/** More than Kafka adds to a message: lengths, timestamp, offset. */
const MESSAGE_OVERHEAD = 32;

/** Splits messages into chunks for one send each, in order. `maxBytes` lowers the limit, for a topic with a lower one. */
export function sendChunks(messages: readonly Message[], maxBytes = MAX_BYTES): Message[][] {
  const limit = Math.min(maxBytes, MAX_BYTES);
  const chunks: Message[][] = [];
  let bytes = 0;
  for (const message of messages) {
    const size = messageBytes(message);
    const open = chunks.at(-1);
    if (open === undefined || open.length === MAX_MESSAGES || bytes + size > limit) {
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
