import crc32c from 'crc-32/crc32c.js';
import type { IHeaders, Message } from 'kafkajs';

/** A record to publish. Its time is that of its batch. */
export type OutgoingRecord = Pick<Message, 'key' | 'value' | 'headers'>;

/** The identity that Kafka gave to a transactional producer. */
export interface ProducerIdentity {
  readonly producerId: string;
  readonly producerEpoch: number;
}

/** Records in Kafka's format 2. `stamp` adds what only the send knows. */
export interface EncodedBatch {
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
): EncodedBatch[] {
  const limit = Math.min(maxBytes, MAX_BATCH_BYTES);
  const batches: EncodedBatch[] = [];
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
  { bytes }: EncodedBatch,
  { producerId, producerEpoch }: ProducerIdentity,
  firstSequence: number,
): void {
  bytes.writeBigInt64BE(BigInt(producerId), AT.producerId);
  bytes.writeInt16BE(producerEpoch, AT.producerEpoch);
  bytes.writeInt32BE(firstSequence, AT.firstSequence);
  bytes.writeInt32BE(crc32c.buf(bytes.subarray(AT.attributes)), AT.crc);
}

/** A copy of what was written up to `end`, with the fields of a batch. */
function closeBatch(count: number, end: number, now: number): EncodedBatch {
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
  const begin = writer.skipSize();
  writer.varint(0); // attributes
  writer.varint(0); // time after that of the batch
  writer.varint(index);
  writer.text(key);
  writer.text(value);
  writer.varint(countOf(headers));
  for (const name in headers) {
    const value = headers[name] ?? null;
    if (Array.isArray(value)) for (const one of value) writeHeader(name, one);
    else writeHeader(name, value);
  }
  writer.writeSize(begin);
}

type Text = string | Buffer | null;

/** A header with several values is several headers. */
function countOf(headers: IHeaders): number {
  let count = 0;
  for (const name in headers) {
    const value = headers[name];
    count += Array.isArray(value) ? value.length : 1;
  }
  return count;
}

/** By name: the last header with a text, and its bytes once it has occurred twice. All headers but the id are mostly repeated. */
const lastHeaders = new Map<string, { readonly value: string; bytes?: Buffer }>();
const MAX_LAST_HEADERS = 100;

function writeHeader(name: string, value: Text): void {
  const last = lastHeaders.get(name);
  if (last?.bytes !== undefined && last.value === value) {
    writer.copy(last.bytes);
    return;
  }
  const begin = writer.at;
  writer.text(name);
  writer.text(value);
  if (last !== undefined && last.value === value)
    last.bytes = Buffer.from(writer.bytes.subarray(begin, writer.at));
  else if (typeof value === 'string' && (last !== undefined || lastHeaders.size < MAX_LAST_HEADERS))
    lastHeaders.set(name, { value });
}

const MAX_VARINT_BYTES = 5;
const MAX_BYTES_OF_A_UNIT = 3; // of UTF-16, in UTF-8

/** Writes into a buffer that grows, and is used again for each batch. */
class Writer {
  bytes = Buffer.alloc(65_536);
  at = 0;

  /** Skips room for the size of a part, which is known later. Returns where the part begins. */
  skipSize(): number {
    this.#reserve(MAX_VARINT_BYTES);
    this.at += MAX_VARINT_BYTES;
    return this.at;
  }

  /** Writes the size of the part that begins there, and moves the part up to it. */
  writeSize(begin: number): void {
    const end = this.at;
    this.at = begin - MAX_VARINT_BYTES;
    this.varint(end - begin);
    this.bytes.copyWithin(this.at, begin, end);
    this.at += end - begin;
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
    if (typeof text === 'string') {
      this.#reserve(MAX_VARINT_BYTES + MAX_BYTES_OF_A_UNIT * text.length);
      const begin = this.skipSize();
      this.at += this.bytes.write(text, begin);
      this.writeSize(begin);
      return;
    }
    this.varint(text === null ? -1 : text.length);
    if (text !== null) this.copy(text);
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
