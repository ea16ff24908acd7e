import kafkajs from 'kafkajs';
import type { RawMessage } from 'kafkajs/src/broker/index.js';
import Decoder from 'kafkajs/src/protocol/decoder.js';
import decodeMessageSet from 'kafkajs/src/protocol/messageSet/decoder.js';
import { toError } from '#errors';
import { BrokenBatchError, decompress } from './codecs.js';
import { UnreadableBatchError } from './kafka-errors.js';
import { AT, MAGIC, TRANSACTIONAL } from './record-batch.js';
import { RecordsDecoder } from './record-decoder.js';
import type { FoundBatch, TopicPartition } from './types.js';

/** The response versions that introduced the present format of batches, and each later field. */
const SINCE = { batches: 4, logStart: 5, session: 7, throttledClient: 8, readReplica: 11 };

/** kafkajs decodes the responses of older versions. */
export const FIRST_DECODED_VERSION = SINCE.batches;

const { KafkaJSError } = kafkajs;

const CODEC_MASK = 7;
const LOG_APPEND_TIME = 8;
const CONTROL = 32;

const LENGTH_END = AT.length + 4;
/** The bytes of a record without key, value and headers. */
const LEAST_RECORD_BYTES = 7;
/**
 * A record without key and value takes about 220 bytes as an object: this bounds the memory of a
 * batch to about 150 MB.
 */
const MAX_COMPRESSED_RECORDS = 250_000;

const MIB = 1_024 * 1_024;
/**
 * Once this much is decoded, the rest of a partition or of a response is left for the next fetch.
 * The last batch may exceed the limit.
 */
const ENOUGH_OF_PARTITION = { bytes: 16 * MIB, records: 50_000 };
/**
 * An uncompressed response has at most 10 MiB, so it is cut only if records have under 50 bytes.
 */
const ENOUGH_OF_RESPONSE = { bytes: 64 * MIB, records: 200_000 };

/**
 * Bounds the data decoded at once: a few bytes of a compressed batch become hundreds as objects.
 */
class Budget {
  #bytes: number;
  #records: number;

  constructor({ bytes, records }: typeof ENOUGH_OF_PARTITION) {
    this.#bytes = bytes;
    this.#records = records;
  }

  get isSpent(): boolean {
    return this.#bytes <= 0 || this.#records <= 0;
  }

  spend(bytes: number, records: number): void {
    this.#bytes -= bytes;
    this.#records -= records;
  }
}

/** Batches that readers pass over, by their names. */
const passed = new Map<string, FoundBatch>();

/** Names a batch. If the topic is recreated, a batch at the same offsets has another CRC. */
function nameOf({ topic, partition, first, last, crc }: FoundBatch): string {
  return `${topic}/${partition}/${first}-${last} ${crc}`;
}

/** Makes all readers of this process treat these batches as batches without data records. */
export function passOver(batches: Iterable<FoundBatch>): void {
  for (const batch of batches) passed.set(nameOf(batch), batch);
}

/** Whether readers pass over the batch with this offset. */
export function isPassedOver({ topic, partition }: TopicPartition, offset: number): boolean {
  return [...passed.values()].some(
    (batch) =>
      batch.topic === topic &&
      batch.partition === partition &&
      batch.first <= offset &&
      offset <= batch.last,
  );
}

/** By empty list of messages: the batch that can't be read, with which the fetch begins. */
const unreadableBatches = new WeakMap<readonly RawMessage[], UnreadableBatchError>();

/** The batch that can't be read, if a fetch returned no messages because it begins with one. */
export function unreadableBatch(messages: readonly RawMessage[]): UnreadableBatchError | undefined {
  return unreadableBatches.get(messages);
}

/**
 * Decodes a fetch response as kafkajs does, except for a batch that can't be read: kafkajs throws,
 * which stops all partitions of the fetch. Here the messages of that partition end before the
 * batch, and the next fetch begins with it (`unreadableBatch`). Once the budget of the response is
 * spent, its other partitions have no messages. They do not starve, because kafkajs asks for the
 * partitions in another order each time, and Kafka answers in this order.
 */
export async function decodeFetch(version: number, response: Buffer) {
  const decoder = new Decoder(response);
  const throttleTime = decoder.readInt32();
  // An error code and a session, which kafkajs does not use.
  if (version >= SINCE.session) decoder.forward(6);
  const budget = new Budget(ENOUGH_OF_RESPONSE);
  const responses = await decoder.readArrayAsync(async () => {
    const topicName = decoder.readString();
    const read = () => readPartition(version, topicName, decoder, budget);
    const partitions = await decoder.readArrayAsync(read);
    return { topicName, partitions };
  });
  // From this version on, the client waits instead of the broker.
  const clientSideThrottleTime = version >= SINCE.throttledClient ? throttleTime : 0;
  return { throttleTime: throttleTime - clientSideThrottleTime, clientSideThrottleTime, responses };
}

async function readPartition(version: number, topic: string, decoder: Decoder, budget: Budget) {
  const partition = decoder.readInt32();
  const errorCode = decoder.readInt16();
  const highWatermark = decoder.readInt64().toString();
  decoder.readInt64(); // the last stable offset
  if (version >= SINCE.logStart) decoder.readInt64();
  const abortedTransactions = decoder.readArray(abortedTransaction);
  const preferredReadReplica = version >= SINCE.readReplica ? decoder.readInt32() : -1;
  const batches = decoder.readBytes() ?? Buffer.alloc(0);
  const messages = await decodeMessages({ topic, partition }, batches, budget);
  return {
    partition,
    errorCode,
    highWatermark,
    preferredReadReplica,
    abortedTransactions,
    messages,
  };
}

function abortedTransaction(decoder: Decoder) {
  const producerId = decoder.readInt64().toString();
  return { producerId, firstOffset: decoder.readInt64().toString() };
}

/**
 * Decodes the batches of a partition. The last one may be incomplete, because Kafka limits the size
 * of a response. In the formats before Kafka 0.11, each message is taken for a batch: offset and
 * length are in the same place.
 */
export async function decodeMessages(
  topicPartition: TopicPartition,
  batches: Buffer,
  responseBudget = new Budget(ENOUGH_OF_RESPONSE),
): Promise<RawMessage[]> {
  const messages: RawMessage[] = [];
  const partitionBudget = new Budget(ENOUGH_OF_PARTITION);
  let from = 0;
  while (batches.length - from > AT.magic) {
    if (partitionBudget.isSpent || responseBudget.isSpent) break;
    const end = from + LENGTH_END + batches.readInt32BE(from + AT.length);
    if (end > batches.length) break;

    const batch = batches.subarray(from, end);
    try {
      if (isPassed(topicPartition, batch)) {
        messages.push(markerOf(findBatch(topicPartition, batch)));
      } else {
        const before = messages.length;
        const bytes = await decodeBatch(batch, messages);
        const records = messages.length - before;
        partitionBudget.spend(bytes, records);
        responseBudget.spend(bytes, records);
      }
    } catch (error) {
      // Not the fault of the batch, such as a lack of memory: kafkajs and our reader fetch again.
      if (!(error instanceof BrokenBatchError)) throw new KafkaJSError(toError(error));
      if (messages.length === 0) {
        const found = findBatch(topicPartition, batch);
        unreadableBatches.set(messages, new UnreadableBatchError(found, error));
      }
      break;
    }
    from = end;
  }
  return messages;
}

function isPassed(topicPartition: TopicPartition, batch: Buffer): boolean {
  return passed.size > 0 && passed.has(nameOf(findBatch(topicPartition, batch)));
}

/** A control record at the last offset of a batch, so that readers count the batch as read. */
function markerOf({ last }: FoundBatch): RawMessage {
  const record = { offset: String(last), timestamp: '0', key: null, value: null };
  return { ...record, isControlRecord: true, batchContext: NO_BATCH };
}

/** The timestamp of a record that has none, as before Kafka 0.10. */
const NO_TIME = { timestamp: '-1' };

/** The batch of a record that belongs to no transaction. */
const NO_BATCH = { producerId: '-1' };

function findBatch(topicPartition: TopicPartition, batch: Buffer): FoundBatch {
  const first = Number(batch.readBigInt64BE(0));
  if (batch.readInt8(AT.magic) !== MAGIC)
    return { ...topicPartition, first, last: first, crc: batch.readUInt32BE(LENGTH_END) };

  const last = first + batch.readInt32BE(AT.lastOffsetDelta);
  return { ...topicPartition, first, last, crc: batch.readUInt32BE(AT.crc) };
}

/** Adds a message of a format before Kafka 0.11, or those that it contains. Returns its bytes. */
async function decodeOldMessage(batch: Buffer, messages: RawMessage[]): Promise<number> {
  const found = await decodeMessageSet(new Decoder(batch), batch.length).catch((cause: unknown) => {
    const why = toError(cause).message; // maybe a codec that kafkajs does not have
    throw new BrokenBatchError(`no message of Kafka that can be read: ${why}`, { cause });
  });
  if (found.length === 0) throw new BrokenBatchError('of a format that is not known');
  for (const message of found)
    messages.push({ ...NO_TIME, ...message, isControlRecord: false, batchContext: NO_BATCH });
  return batch.length;
}

/** Adds the messages of a batch; none if it throws. Returns the decompressed size in bytes. */
async function decodeBatch(batch: Buffer, messages: RawMessage[]): Promise<number> {
  if (batch.readInt8(AT.magic) !== MAGIC) return decodeOldMessage(batch, messages);

  const codec = batch.readInt16BE(AT.attributes) & CODEC_MASK;
  const packed = batch.subarray(AT.records);
  const records = codec === 0 ? packed : await decompress(codec, packed);
  const count = batch.readInt32BE(AT.count);
  if (count * LEAST_RECORD_BYTES > records.length)
    throw new BrokenBatchError(`${count} in ${records.length} bytes, which is impossible`);
  if (codec !== 0 && count > MAX_COMPRESSED_RECORDS)
    throw new BrokenBatchError(`compressed, and more than ${MAX_COMPRESSED_RECORDS}: ${count}`);

  const decoder = new RecordsDecoder(records, contextOf(batch));
  const before = messages.length;
  try {
    for (let index = 0; index < count; index++) messages.push(decoder.next());
  } catch (cause) {
    messages.length = before;
    throw new BrokenBatchError('no valid records of Kafka', { cause });
  }
  return records.length;
}

function contextOf(batch: Buffer) {
  const attributes = batch.readInt16BE(AT.attributes);
  return {
    firstOffset: batch.readBigInt64BE(0).toString(),
    firstTimestamp: batch.readBigInt64BE(AT.firstTimestamp).toString(),
    partitionLeaderEpoch: batch.readInt32BE(LENGTH_END),
    inTransaction: (attributes & TRANSACTIONAL) !== 0,
    isControlBatch: (attributes & CONTROL) !== 0,
    lastOffsetDelta: batch.readInt32BE(AT.lastOffsetDelta),
    producerId: batch.readBigInt64BE(AT.producerId).toString(),
    producerEpoch: batch.readInt16BE(AT.producerEpoch),
    firstSequence: batch.readInt32BE(AT.firstSequence),
    maxTimestamp: batch.readBigInt64BE(AT.maxTimestamp).toString(),
    timestampType: (attributes & LOG_APPEND_TIME) === 0 ? 0 : 1,
    magicByte: MAGIC,
  };
}
