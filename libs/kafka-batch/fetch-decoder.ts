import type { RawMessage } from 'kafkajs/src/broker/index.js';
import Decoder from 'kafkajs/src/protocol/decoder.js';
import decodeMessageSet from 'kafkajs/src/protocol/messageSet/decoder.js';
import decodeRecord from 'kafkajs/src/protocol/recordBatch/record/v0/decoder.js';
import { decompress } from './codecs.js';
import { toError, UnreadableBatchError, type BatchPlace } from './errors.js';
import { AT, MAGIC, TRANSACTIONAL } from './record-batch.js';

/** The first version of a response with batches in the present format, and those that added fields. */
const SINCE = { batches: 4, logStart: 5, session: 7, throttledClient: 8, readReplica: 11 };

/** kafkajs decodes the responses of older versions. */
export const FIRST_DECODED_VERSION = SINCE.batches;

const CODEC_MASK = 7;
const LOG_APPEND_TIME = 8;
const CONTROL = 32;

const LENGTH_END = AT.length + 4;
/** The bytes of a record without key, value and headers. */
const LEAST_RECORD_BYTES = 7;
/** Small records take many times their bytes as objects: this bounds the memory of a compressed batch to about 150 MB. */
const MAX_COMPRESSED_RECORDS = 250_000;
/** Of a partition that has as many decompressed bytes, the rest of a response is left for the next fetch: it bounds memory. */
const ENOUGH_BYTES = 16 * 1_024 * 1_024;

/** Batches that readers pass over, by topic, partition and first offset; with their last offset. */
const passed = new Map<string, number>();

/** Makes all readers of this process take these batches for batches without data records. */
export function passOver(batches: Iterable<BatchPlace>): void {
  for (const { topic, partition, first, last } of batches)
    passed.set(`${topic}/${partition}/${first}`, last);
}

/** Of empty lists of messages: the batch that can't be read, with which the fetch began. */
const damages = new WeakMap<readonly RawMessage[], UnreadableBatchError>();

/** If a fetch returned no messages because it begins with a batch that can't be read: that batch. */
export function unreadableBatch(messages: readonly RawMessage[]): UnreadableBatchError | undefined {
  return damages.get(messages);
}

/**
 * Decodes a fetch response as kafkajs does, except for a batch that can't be read: kafkajs throws, which stops all partitions
 * of the fetch. Here the messages of its partition end before it, and the next fetch begins with it (`unreadableBatch`).
 */
export async function decodeFetch(version: number, response: Buffer) {
  const decoder = new Decoder(response);
  const throttleTime = decoder.readInt32();
  if (version >= SINCE.session) decoder.forward(6); // an error code and a session, which kafkajs does not use
  const responses = await decoder.readArrayAsync(async () => {
    const topicName = decoder.readString();
    const partitions = await decoder.readArrayAsync(() => fetched(version, topicName, decoder));
    return { topicName, partitions };
  });
  // From this version on, the broker leaves it to the client to wait.
  const clientSideThrottleTime = version >= SINCE.throttledClient ? throttleTime : 0;
  return { throttleTime: throttleTime - clientSideThrottleTime, clientSideThrottleTime, responses };
}

async function fetched(version: number, topic: string, decoder: Decoder) {
  const partition = decoder.readInt32();
  const errorCode = decoder.readInt16();
  const highWatermark = decoder.readInt64().toString();
  decoder.readInt64(); // the last stable offset
  if (version >= SINCE.logStart) decoder.readInt64();
  const abortedTransactions = decoder.readArray(abortedTransaction);
  const preferredReadReplica = version >= SINCE.readReplica ? decoder.readInt32() : -1;
  const batches = decoder.readBytes();
  const messages = await decodeMessages({ topic, partition }, batches ?? Buffer.alloc(0));
  const head = { partition, errorCode, highWatermark, preferredReadReplica };
  return { ...head, abortedTransactions, messages };
}

function abortedTransaction(decoder: Decoder) {
  const producerId = decoder.readInt64().toString();
  return { producerId, firstOffset: decoder.readInt64().toString() };
}

type Place = Pick<BatchPlace, 'topic' | 'partition'>;

/** Decodes the batches of a partition. The last one may be incomplete, because Kafka limits the size of a response. */
export async function decodeMessages(place: Place, batches: Buffer): Promise<RawMessage[]> {
  const messages: RawMessage[] = [];
  if (batches.length <= AT.magic) return messages;
  if (batches.readInt8(AT.magic) !== MAGIC)
    return decodeMessageSet(new Decoder(batches), batches.length);
  let from = 0;
  let bytes = 0;
  while (batches.length - from >= AT.records && bytes < ENOUGH_BYTES) {
    const end = from + LENGTH_END + batches.readInt32BE(from + AT.length);
    if (end > batches.length) break;
    const batch = batches.subarray(from, end);
    try {
      if (isPassed(place, batch)) messages.push(markerOf(place, batch));
      else bytes += await decodeBatch(batch, messages);
    } catch (error) {
      if (messages.length === 0) damages.set(messages, unreadable(place, batch, error));
      break;
    }
    from = end;
  }
  return messages;
}

function isPassed(place: Place, batch: Buffer): boolean {
  if (passed.size === 0) return false;
  const { topic, partition, first, last } = offsetsOf(place, batch);
  return passed.get(`${topic}/${partition}/${first}`) === last;
}

/** A control record at the last offset of a batch, which ends no transaction: readers count it as read. */
function markerOf(place: Place, batch: Buffer): RawMessage {
  const batchContext = { ...contextOf(batch), producerId: '-1' };
  const offset = String(offsetsOf(place, batch).last);
  const record = { offset, timestamp: batchContext.maxTimestamp, key: null, value: null };
  return { ...record, isControlRecord: true, batchContext };
}

function unreadable(place: Place, batch: Buffer, error: unknown): UnreadableBatchError {
  return new UnreadableBatchError(offsetsOf(place, batch), toError(error));
}

function offsetsOf(place: Place, batch: Buffer): BatchPlace {
  const first = Number(batch.readBigInt64BE(0));
  return { ...place, first, last: first + batch.readInt32BE(AT.lastOffsetDelta) };
}

/** Adds the messages of a batch, or none of them if it throws. Returns the bytes of its records when decompressed. */
async function decodeBatch(batch: Buffer, messages: RawMessage[]): Promise<number> {
  const codec = batch.readInt16BE(AT.attributes) & CODEC_MASK;
  const packed = batch.subarray(AT.records);
  const records = codec === 0 ? packed : await decompress(codec, packed);
  const count = batch.readInt32BE(AT.count);
  if (count * LEAST_RECORD_BYTES > records.length)
    throw new Error(`${count} in ${records.length} bytes, which is impossible`);
  if (codec !== 0 && count > MAX_COMPRESSED_RECORDS)
    throw new Error(`compressed, and more than ${MAX_COMPRESSED_RECORDS}: ${count}`);
  const context = contextOf(batch);
  const decoder = new Decoder(records);
  const before = messages.length;
  try {
    for (let index = 0; index < count; index++)
      messages.push(decodeRecord(new Decoder(decoder.readVarIntBytes()), context));
  } catch (cause) {
    messages.length = before;
    throw new Error('no valid records of Kafka', { cause });
  }
  return records.length;
}

/** What the records of a batch have in common, as kafkajs has it. */
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
