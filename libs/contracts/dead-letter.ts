import { createHash } from 'node:crypto';
import { keptTime } from './player-record.js';
import {
  causeId,
  hasTooManyHeaders,
  headerText,
  type RawRecord,
  type RecordHeaders,
  type Source,
} from './record.js';
import { retriedIds, retryHeaders, type TimedSource } from './retry.js';
import { quote } from './values.js';

type HeaderValue = Buffer | string;
/** A record as Kafka clients accept it. */
type Encodable = Readonly<Record<'key' | 'value', HeaderValue | null>> & Pick<RawRecord, 'headers'>;
/** A record of the score topic; the timestamp in ms. */
type TimedRecord = RawRecord & { readonly timestamp: number };

export interface DeadLetterReason {
  readonly code: string;
  readonly detail: string;
}

/**
 * A part of a record that is left out if the dead letter would be too large. The record in the log
 * still has it.
 */
type Part = 'value' | 'headers' | 'key';

/**
 * The dead letter of a record: its key, value and headers, and headers of ranklog with the reason,
 * which replace older ones. If its batch would be larger than `maxBytes`, the largest part is
 * replaced by headers that describe it, then the next one. More than MAX_HEADERS headers are always
 * replaced. The detail names headers that can't be written again.
 */
export function encodeDeadLetter(
  source: Source,
  record: TimedRecord,
  reason: DeadLetterReason,
  maxBytes = Infinity,
) {
  const leftOut: Part[] = hasTooManyHeaders(record) ? ['headers'] : [];
  const { headers, dropped } = writableHeaders(leftOut.length === 0 ? record.headers : {});
  const fullReason = withDropped(reason, dropped);
  const largest = largestParts({ key: record.key, value: record.value, headers });
  for (;;) {
    const digests = leftOut.flatMap((part) => digestHeaders(part, record));
    const letter = {
      key: leftOut.includes('key') ? null : record.key,
      value: leftOut.includes('value') ? null : record.value,
      headers: {
        ...(leftOut.includes('headers') ? {} : headers),
        ...reasonHeaders(source, record, fullReason),
        ...Object.fromEntries(digests),
      },
    };
    if (batchBytes(letter) <= maxBytes) return letter;

    const next = largest.shift();
    if (next === undefined) return letter;
    leftOut.push(next);
  }
}

/**
 * Smaller parts are not left out: that would save little, as the headers that describe a part have
 * some 130 bytes.
 */
const MIN_LEFT_OUT_BYTES = 256;

/** The parts that are worth leaving out, largest first. */
function largestParts({ key, value, headers }: RawRecord): Part[] {
  const bytes = { value: length(value), headers: headerBytes(headers), key: length(key) };
  return (['value', 'headers', 'key'] as const)
    .filter((part) => bytes[part] > MIN_LEFT_OUT_BYTES)
    .sort((a, b) => bytes[b] - bytes[a]);
}

function reasonHeaders(
  source: Source,
  { timestamp }: TimedRecord,
  { code, detail }: DeadLetterReason,
) {
  return {
    ranklog_id: causeId(source),
    ranklog_reason: code,
    ranklog_detail: detail,
    ranklog_topic: source.topic,
    ranklog_partition: String(source.partition),
    ranklog_offset: String(source.offset),
    ranklog_timestamp: String(timestamp),
  };
}

function withDropped(reason: DeadLetterReason, dropped: readonly string[]): DeadLetterReason {
  if (dropped.length === 0) return reason;
  const names = dropped.map(quote).join(', ');
  const detail = `${reason.detail}; without these headers, whose names are not UTF-8: ${names}`;
  return { ...reason, detail: cutDetail(detail) };
}

/** Headers with the size of a left-out part, and with the digest of a key or a value. */
function digestHeaders(part: Part, record: RawRecord): [string, string][] {
  if (part === 'headers') {
    const size = record.encodedHeaders?.byteLength ?? headerBytes(record.headers);
    return [['ranklog_headers_bytes', String(size)]];
  }
  const bytes = record[part] ?? Buffer.alloc(0);
  return [
    [`ranklog_${part}_bytes`, String(bytes.length)],
    [`ranklog_${part}_sha256`, createHash('sha256').update(bytes).digest('hex')],
  ];
}

/**
 * A record that was a dead letter before can have these headers. They are dropped, because the new
 * dead letter may have all parts.
 */
const DIGEST_HEADERS = /^ranklog_(value|key|headers)_(bytes|sha256)$/;

/** Decoding replaces bytes that are not UTF-8 by this character. */
const REPLACEMENT = '\uFFFD';

/**
 * The headers that can be written, and the names of dropped headers, which are not UTF-8. Kafka
 * allows headers without a value; kafkajs reads them as null, but throws when it has to write null.
 */
function writableHeaders(headers: RecordHeaders) {
  const writable = (value: unknown) => (value ?? Buffer.alloc(0)) as HeaderValue;
  const names = Object.keys(headers);
  const entries = names
    .filter((name) => !name.includes(REPLACEMENT) && !DIGEST_HEADERS.test(name))
    .map((name) => {
      const value = headers[name];
      return [name, Array.isArray(value) ? value.map(writable) : writable(value)] as const;
    });
  const dropped = names.filter((name) => name.includes(REPLACEMENT));
  return { headers: Object.fromEntries<HeaderValue | HeaderValue[]>(entries), dropped };
}

/**
 * Bytes that Kafka adds to a batch, and at most to each record (lengths, timestamp, offset) and
 * header (two lengths).
 */
const BATCH_OVERHEAD = 61;
const RECORD_OVERHEAD = 36;
const HEADER_OVERHEAD = 10;

/** The most bytes of a batch with only this record. max.message.bytes of a topic limits them. */
export function batchBytes(record: Encodable): number {
  return BATCH_OVERHEAD + recordBytes(record);
}

/** The most bytes that a record takes in a batch. */
export function recordBytes({ key, value, headers }: Encodable): number {
  return RECORD_OVERHEAD + length(key) + length(value) + headerBytes(headers);
}

function headerBytes(headers: RecordHeaders): number {
  let bytes = 0;
  for (const [name, given] of Object.entries(headers)) {
    const values = [given ?? null].flat();
    for (const value of values) bytes += HEADER_OVERHEAD + Buffer.byteLength(name) + length(value);
  }
  return bytes;
}

function length(part: HeaderValue | null): number {
  return part === null ? 0 : Buffer.byteLength(part);
}

const MAX_DETAIL_BYTES = 1_024;

/** Cuts the detail of a dead letter to 1,024 bytes of UTF-8, in whole characters. */
export function cutDetail(detail: string): string {
  if (Buffer.byteLength(detail) <= MAX_DETAIL_BYTES) return detail;
  // A stream decoder does not output the start of a character that was cut.
  const bytes = Buffer.from(detail).subarray(0, MAX_DETAIL_BYTES);
  return new TextDecoder().decode(bytes, { stream: true });
}

/** A dead letter, read from the headers that ranklog has added. */
export interface DeadLetter extends Source, DeadLetterReason {
  /** Timestamp of the record, in ms. Missing in dead letters of earlier versions. */
  readonly timestamp?: number;
  /** If the record is a retry: the ids of the records before it, the original first. */
  readonly retryOf?: readonly string[];
  /**
   * The parts of the record that were left out: only the log has them. `sha256` is hexadecimal, and
   * undefined for headers.
   */
  readonly leftOut: readonly {
    readonly part: Part;
    readonly bytes: number;
    readonly sha256: string | undefined;
  }[];
}

/** Returns undefined for a record that is not a dead letter. */
export function decodeDeadLetter(record: RawRecord): DeadLetter | undefined {
  const text = (name: string) => headerText(record, name);
  const code = text('ranklog_reason');
  if (code === undefined) return undefined;
  const timestamp = text('ranklog_timestamp');
  const retryOf = retriedIds(record);
  return {
    code,
    detail: text('ranklog_detail') ?? '',
    topic: text('ranklog_topic') ?? '',
    partition: Number(text('ranklog_partition')),
    offset: Number(text('ranklog_offset')),
    ...(timestamp !== undefined && { timestamp: Number(timestamp) }),
    ...(retryOf.length > 0 && { retryOf }),
    leftOut: (['value', 'key', 'headers'] as const).flatMap((part) => {
      const bytes = text(`ranklog_${part}_bytes`);
      const sha256 = text(`ranklog_${part}_sha256`);
      return bytes === undefined ? [] : [{ part, bytes: Number(bytes), sha256 }];
    }),
  };
}

/**
 * The record that retries a dead letter: the original key, value, headers and time, and headers
 * that name the records before it.
 */
export function encodeRetry(record: RawRecord, letter: TimedSource) {
  const { key, value, headers } = record;
  const { headers: writable } = writableHeaders(headers);
  const own = Object.entries(writable).filter(([name]) => !/^ranklog_/.test(name));
  const added = { ...keptTime(record, letter.timestamp), ...retryHeaders(headers, letter) };
  return { key, value, headers: { ...Object.fromEntries(own), ...added } };
}
