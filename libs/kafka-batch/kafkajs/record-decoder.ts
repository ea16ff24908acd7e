import type { RawMessage } from 'kafkajs/src/broker/index.js';
import Decoder from 'kafkajs/src/protocol/decoder.js';
import decodeByKafkajs from 'kafkajs/src/protocol/recordBatch/record/v0/decoder.js';
import { Cursor, EncodedHeaders } from './record-headers.js';

/** The common data of a batch's records, as in kafkajs; offsets and times are numbers as text. */
export interface BatchContext {
  readonly firstOffset: string;
  readonly firstTimestamp: string;
  readonly maxTimestamp: string;
  /** 0: each record has its own time; 1: all have the time of the append, `maxTimestamp`. */
  readonly timestampType: number;
  readonly isControlBatch: boolean;
  readonly lastOffsetDelta: number;
  readonly producerId: string;
  readonly magicByte: number;
}

/**
 * Decodes the records of a batch as kafkajs does, but without the two decoders and several BigInts
 * that kafkajs creates for each record. Uses kafkajs for a record with numbers that do not fit a
 * double.
 * @throws RangeError if the bytes end within a record
 */
export class RecordsDecoder {
  readonly #cursor: Cursor;
  readonly #firstOffset: number;
  readonly #firstTimestamp: number;

  constructor(
    private readonly bytes: Buffer,
    private readonly context: BatchContext,
  ) {
    this.#cursor = new Cursor(bytes, 0);
    this.#firstOffset = Number(context.firstOffset);
    this.#firstTimestamp = Number(context.firstTimestamp);
  }

  next(): RawMessage {
    const cursor = this.#cursor;
    const length = cursor.varint();
    const begin = cursor.at;
    const end = begin + length;
    if (length <= 0 || end > this.bytes.length) throw new RangeError('a record ends too early');
    const message = this.#message(end) ?? this.#byKafkajs(begin, end);
    if (cursor.at > end) throw new RangeError('a record is longer than it says');
    cursor.at = end;
    return message;
  }

  /** Undefined if a number is too large. */
  #message(end: number): RawMessage | undefined {
    const { bytes, context } = this;
    const cursor = this.#cursor;
    const attributes = bytes.readInt8(cursor.at++);
    const time = this.#firstTimestamp + cursor.varlong();
    const offset = this.#firstOffset + cursor.varint();
    if (!Number.isSafeInteger(time) || !Number.isSafeInteger(offset)) return undefined;
    const key = this.#take(end);
    const value = this.#take(end);
    const count = cursor.varint();
    return {
      magicByte: context.magicByte,
      attributes,
      timestamp: context.timestampType === 1 ? context.maxTimestamp : String(time),
      offset: String(offset),
      key,
      value,
      headers: count > 0 ? this.#headers(count, end) : EncodedHeaders.none,
      isControlRecord: context.isControlBatch,
      batchContext: context,
    } as unknown as RawMessage; // kafkajs declares other headers: see patchKafkajs
  }

  #take(end: number): Buffer | null {
    const cursor = this.#cursor;
    const length = cursor.varint();
    if (length < 0) return null;
    const begin = cursor.at;
    cursor.at += length;
    if (cursor.at > end) throw new RangeError('a record is longer than it says');
    return this.bytes.subarray(begin, cursor.at);
  }

  #headers(count: number, end: number): EncodedHeaders {
    return new EncodedHeaders(count, this.bytes.subarray(this.#cursor.at, end), 0);
  }

  #byKafkajs(begin: number, end: number): RawMessage {
    return decodeByKafkajs(new Decoder(this.bytes.subarray(begin, end)), this.context);
  }
}
