import crc32c from 'crc-32/crc32c.js';
import type { Message } from 'kafkajs';

/** A record to publish. Its time is that of its batch. */
export type OutgoingRecord = Pick<Message, 'key' | 'value' | 'headers'>;

/** The identity that Kafka gave to a transactional producer. */
export interface ProducerIdentity {
  readonly producerId: string;
  readonly producerEpoch: number;
}

/** Records in Kafka's format 2. `stamp` adds what only the send knows. */
export interface RecordBatch {
  readonly count: number;
  readonly bytes: Buffer;
}

/** The fields of a batch: https://kafka.apache.org/documentation/#recordbatch */
const AT = {
  length: 8,
  magic: 16,
  crc: 17,
  attributes: 21,
  lastOffsetDelta: 23,
  firstTimestamp: 27,
  maxTimestamp: 35,
  producerId: 43,
  producerEpoch: 51,
  firstSequence: 53,
  count: 57,
  records: 61,
};
const MAGIC = 2;
const TRANSACTIONAL = 16;

/** The default of max.message.bytes, with which Kafka limits a batch. */
const MAX_BATCH_BYTES = 1_048_576;

/**
 * Encodes records, in order, as batches of at most `maxBytes`, and at most 1 MiB; a larger record is a batch of its own.
 * kafkajs would create an encoder with a buffer for each part of a record, which costs several times the CPU.
 */
export function encodeBatches(
  records: readonly OutgoingRecord[],
  maxBytes = MAX_BATCH_BYTES,
  now = Date.now(),
): RecordBatch[] {
  const limit = Math.min(maxBytes, MAX_BATCH_BYTES);
  const batches: RecordBatch[] = [];
  let count = 0;
  writer.at = AT.records;
  for (const record of records) {
    const begin = writer.at;
    writeRecord(record, count);
    if (writer.at > limit && count > 0) {
      batches.push(closeBatch(count, begin, now));
      [writer.at, count] = [AT.records, 0];
      writeRecord(record, count);
    }
    count += 1;
  }
  if (count > 0) batches.push(closeBatch(count, writer.at, now));
  return batches;
}

/** Completes a batch for a transactional producer. Another stamp, of a later producer or sequence, replaces the first. */
export function stamp(
  { bytes }: RecordBatch,
  { producerId, producerEpoch }: ProducerIdentity,
  firstSequence: number,
): void {
  bytes.writeBigInt64BE(BigInt(producerId), AT.producerId);
  bytes.writeInt16BE(producerEpoch, AT.producerEpoch);
  bytes.writeInt32BE(firstSequence, AT.firstSequence);
  bytes.writeInt32BE(crc32c.buf(bytes.subarray(AT.attributes)), AT.crc);
}

/** A copy of what was written up to `end`, with the fields of a batch. */
function closeBatch(count: number, end: number, now: number): RecordBatch {
  const bytes = Buffer.alloc(end);
  writer.bytes.copy(bytes, AT.records, AT.records, end);
  bytes.writeInt32BE(end - AT.length - 4, AT.length);
  bytes.writeInt8(MAGIC, AT.magic);
  bytes.writeInt16BE(TRANSACTIONAL, AT.attributes);
  bytes.writeInt32BE(count - 1, AT.lastOffsetDelta);
  bytes.writeBigInt64BE(BigInt(now), AT.firstTimestamp);
  bytes.writeBigInt64BE(BigInt(now), AT.maxTimestamp);
  bytes.writeInt32BE(count, AT.count);
  return { count, bytes };
}

function writeRecord({ key = null, value, headers = {} }: OutgoingRecord, index: number): void {
  const begin = writer.leaveRoom();
  writer.varint(0); // attributes
  writer.varint(0); // time after that of the batch
  writer.varint(index);
  writer.text(key);
  writer.text(value);
  const names = Object.keys(headers);
  writer.varint(names.reduce((count, name) => count + valuesOf(headers[name]).length, 0));
  for (const name of names) for (const one of valuesOf(headers[name])) writeHeader(name, one);
  writer.writeSize(begin);
}

type Text = string | Buffer | null;

/** A header with several values is several headers. */
function valuesOf(value: string | Buffer | (string | Buffer)[] | undefined): readonly Text[] {
  if (Array.isArray(value)) return value;
  return [value ?? null];
}

/** The last value of each header, and its bytes once it has occurred twice: most results of a topic differ in one header only. */
const lastHeaders = new Map<string, { value: Text; bytes: Buffer | undefined }>();
const MAX_LAST_HEADERS = 100;

function writeHeader(name: string, value: Text): void {
  const last = lastHeaders.get(name);
  if (last !== undefined && last.value === value && typeof value === 'string') {
    last.bytes ??= encodedHeader(name, value);
    writer.copy(last.bytes);
    return;
  }
  if (last !== undefined) [last.value, last.bytes] = [value, undefined];
  else if (lastHeaders.size < MAX_LAST_HEADERS) lastHeaders.set(name, { value, bytes: undefined });
  writer.text(name);
  writer.text(value);
}

function encodedHeader(name: string, value: string): Buffer {
  const own = new Writer(2 * MAX_VARINT_BYTES + Buffer.byteLength(name) + Buffer.byteLength(value));
  own.text(name);
  own.text(value);
  return own.bytes.subarray(0, own.at);
}

const MAX_VARINT_BYTES = 5;
/** Bytes of the size of most records: 64 to 8,191 bytes. */
const ROOM = 2;

/** Bytes of a zigzag varint. */
function varintSize(value: number): number {
  const zigzag = ((value << 1) ^ (value >> 31)) >>> 0;
  return zigzag < 0x80 ? 1 : Math.ceil((32 - Math.clz32(zigzag)) / 7);
}

/** Writes into a buffer that grows, and is used again for each batch. */
class Writer {
  bytes: Buffer;
  at = 0;

  constructor(size = 65_536) {
    this.bytes = Buffer.alloc(size);
  }

  /** Leaves room for the size of a part, which is written later. Returns where the part begins. */
  leaveRoom(): number {
    this.#reserve(ROOM);
    this.at += ROOM;
    return this.at;
  }

  /** Writes the size of the part that began after the room; moves the part if the size takes more or less room. */
  writeSize(begin: number): void {
    const end = this.at;
    const move = varintSize(end - begin) - ROOM;
    if (move !== 0) {
      this.#reserve(move);
      this.bytes.copyWithin(begin + move, begin, end);
    }
    this.at = begin - ROOM;
    this.varint(end - begin);
    this.at = end + move;
  }

  varint(value: number): void {
    this.#reserve(MAX_VARINT_BYTES);
    let rest = ((value << 1) ^ (value >> 31)) >>> 0;
    while (rest >= 0x80) {
      this.bytes[this.at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.bytes[this.at++] = rest;
  }

  /** The length in bytes (-1 for null), then the bytes. */
  text(text: Text): void {
    const length =
      text === null ? -1 : typeof text === 'string' ? Buffer.byteLength(text) : text.length;
    this.varint(length);
    if (typeof text === 'string') {
      this.#reserve(length);
      this.at += this.bytes.write(text, this.at);
    } else if (text !== null) this.copy(text);
  }

  copy(bytes: Buffer): void {
    this.#reserve(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  #reserve(count: number): void {
    if (this.at + count <= this.bytes.length) return;
    const larger = Buffer.alloc(2 * (this.at + count));
    this.bytes.copy(larger, 0, 0, this.at);
    this.bytes = larger;
  }
}

const writer = new Writer();
