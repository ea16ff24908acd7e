import crc32c from 'crc-32/crc32c.js';
import type { IHeaders, Message } from 'kafkajs';

/** A record to publish. It has the time of its batch. */
export type OutgoingRecord = Pick<Message, 'key' | 'value' | 'headers'>;

/** The identity that Kafka gave to a transactional producer. */
export interface ProducerIdentity {
  readonly producerId: string;
  readonly producerEpoch: number;
}

/** Records in Kafka's format 2. `stamp` adds the fields that are known only when it is sent. */
export interface EncodedBatch {
  readonly count: number;
  readonly bytes: Buffer;
}

/** The fields of a batch: https://kafka.apache.org/documentation/#recordbatch */
export const AT = {
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
export const MAGIC = 2;
export const TRANSACTIONAL = 16;

/** Just below the default of max.message.bytes, with which Kafka limits a batch. */
const MAX_BATCH_BYTES = 1_048_576;

/**
 * Encodes records, in order, as batches of at most `maxBytes`, and at most 1 MiB; a larger record
 * is a batch of its own. Records wait as bytes: as objects, they would outlive the young generation
 * of V8, which costs more CPU than encoding them. kafkajs would create an encoder with a buffer for
 * each part of a record, which costs several times the CPU.
 */
export class BatchEncoder {
  readonly #batches: EncodedBatch[] = [];
  #writer = new Writer();
  #count = 0;

  constructor(private readonly maxBytes = MAX_BATCH_BYTES) {}

  add(record: OutgoingRecord): void {
    const begin = this.#writer.at;
    this.#writer.record(record, this.#count);
    if (this.#writer.at > Math.min(this.maxBytes, MAX_BATCH_BYTES) && this.#count > 0) {
      this.#writer.at = begin;
      this.#closeBatch();
      this.#writer = new Writer();
      this.#writer.record(record, 0);
    }
    this.#count += 1;
  }

  /** Returns the batches. Do not call `add` after it. */
  close(): readonly EncodedBatch[] {
    if (this.#count > 0) this.#closeBatch();
    return this.#batches;
  }

  #closeBatch(): void {
    const count = this.#count;
    const now = BigInt(Date.now());
    const bytes = this.#writer.written;
    bytes.writeInt32BE(bytes.length - AT.length - 4, AT.length);
    bytes.writeInt8(MAGIC, AT.magic);
    bytes.writeInt16BE(TRANSACTIONAL, AT.attributes);
    bytes.writeInt32BE(count - 1, AT.lastOffsetDelta);
    bytes.writeBigInt64BE(now, AT.firstTimestamp);
    bytes.writeBigInt64BE(now, AT.maxTimestamp);
    bytes.writeInt32BE(count, AT.count);
    this.#batches.push({ count, bytes });
    this.#count = 0;

    const wanted = 1.125 * Math.min(MAX_BATCH_BYTES, bytes.length);
    usualBytes = Math.ceil(Math.max(FIRST_BYTES, usualBytes / 2, wanted));
  }
}

/** Completes a batch for a transactional producer. A later stamp replaces an earlier one. */
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

type Text = string | Buffer | null;

/** Counts a header with several values as several headers. */
function countOf(headers: IHeaders): number {
  let count = 0;
  for (const name in headers) {
    const value = headers[name];
    count += Array.isArray(value) ? value.length : 1;
  }
  return count;
}

/**
 * By name: the last header with a text value, and its bytes once the value has occurred twice in a
 * row. Except for the id, most headers repeat.
 */
const lastHeaders = new Map<string, { readonly value: string; bytes?: Buffer }>();
const MAX_LAST_HEADERS = 100;

const MAX_VARINT_BYTES = 5;
const MAX_BYTES_OF_A_UNIT = 3; // of UTF-16, in UTF-8
const USUAL_BYTES_OF_A_RECORD = 500;
const FIRST_BYTES = 4_096;

/** The first size of a buffer: a bit above the largest recent batch, because growth copies. */
let usualBytes = FIRST_BYTES;

/** Writes into a buffer that grows. */
class Writer {
  at = AT.records;
  #bytes = Buffer.allocUnsafeSlow(usualBytes).fill(0, 0, AT.records);

  get written(): Buffer {
    return this.#bytes.subarray(0, this.at);
  }

  record({ key = null, value, headers = {} }: OutgoingRecord, index: number): void {
    const begin = this.#skipSize(USUAL_BYTES_OF_A_RECORD);
    this.#varint(0); // attributes
    this.#varint(0); // time after the time of the batch
    this.#varint(index);
    this.#text(key);
    this.#text(value);
    this.#varint(countOf(headers));
    for (const name in headers) {
      const value = headers[name] ?? null;
      if (Array.isArray(value)) for (const one of value) this.#header(name, one);
      else this.#header(name, value);
    }
    this.#writeSize(begin, USUAL_BYTES_OF_A_RECORD);
  }

  #header(name: string, value: Text): void {
    const last = lastHeaders.get(name);
    if (last?.bytes !== undefined && last.value === value) {
      this.#copy(last.bytes);
      return;
    }
    const begin = this.at;
    this.#text(name);
    this.#text(value);
    if (last !== undefined && last.value === value)
      last.bytes = Buffer.from(this.written.subarray(begin));
    else if (
      typeof value === 'string' &&
      (last !== undefined || lastHeaders.size < MAX_LAST_HEADERS)
    )
      lastHeaders.set(name, { value });
  }

  /**
   * Skips room for the size of a part, which is known only later. Returns where the part begins, if
   * it will have the expected size.
   */
  #skipSize(expected: number): number {
    this.#reserve(MAX_VARINT_BYTES);
    this.at += varintBytes(expected);
    return this.at;
  }

  /**
   * Writes the size of the part that begins at `begin`. Moves the part if its size takes more or
   * less room than the expected size.
   */
  #writeSize(begin: number, expected: number): void {
    const size = this.at - begin;
    this.#reserve(MAX_VARINT_BYTES);
    this.at = begin - varintBytes(expected);
    const moved = this.at + varintBytes(size);
    if (moved !== begin) this.#bytes.copyWithin(moved, begin, begin + size);
    this.#varint(size);
    this.at += size;
  }

  #varint(value: number): void {
    this.#reserve(MAX_VARINT_BYTES);
    let rest = ((value << 1) ^ (value >> 31)) >>> 0;
    while (rest >= 0x80) {
      this.#bytes[this.at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.at++] = rest;
  }

  /** The length in bytes (-1 for null), then the bytes. */
  #text(text: Text): void {
    if (typeof text === 'string') {
      this.#reserve(MAX_VARINT_BYTES + MAX_BYTES_OF_A_UNIT * text.length);
      const begin = this.#skipSize(text.length);
      this.at += this.#bytes.write(text, begin);
      this.#writeSize(begin, text.length);
      return;
    }
    this.#varint(text === null ? -1 : text.length);
    if (text !== null) this.#copy(text);
  }

  #copy(bytes: Buffer): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  #reserve(count: number): void {
    if (this.at + count <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(2 * (this.at + count));
    this.#bytes.copy(larger, 0, 0, this.at);
    this.#bytes = larger;
  }
}

/** How many bytes the varint of a size has. */
function varintBytes(size: number): number {
  return Math.ceil((32 - Math.clz32((size << 1) | 1)) / 7);
}
