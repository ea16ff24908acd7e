import { createHash } from 'node:crypto';
import { causeId, headerText, type RawRecord, type RecordHeaders, type Source } from './record.js';
import { retriedIds, retryHeaders, type TimedSource } from './retry.js';

type HeaderValue = Buffer | string;
/** A record as Kafka clients accept it. */
type Encodable = Readonly<Record<'key' | 'value', HeaderValue | null>> & Pick<RawRecord, 'headers'>;
/** A record of the score topic; the timestamp in ms. */
type TimedRecord = RawRecord & { readonly timestamp: number };

export interface DeadLetterReason {
  readonly code: string;
  readonly detail: string;
}

/** A part of a record that is left out if the dead letter would be too large. The record in the log still has it. */
type Part = 'value' | 'headers' | 'key';

/**
 * The dead letter of a record: its key, value and headers, and headers of ranklog with the reason, which replace older ones. If
 * its batch would be larger than `maxBytes`, the largest part is replaced by headers that describe it, then the next one.
 */
export function encodeDeadLetter(
  source: Source,
  record: TimedRecord,
  reason: DeadLetterReason,
  maxBytes = Infinity,
) {
  const leftOut: Part[] = [];
  const parts = largestParts(record);
  for (;;) {
    const letter = without(leftOut, source, record, reason);
    const next = batchBytes(letter) > maxBytes ? parts.shift() : undefined;
    if (next === undefined) return letter;
    leftOut.push(next);
  }
}

/** Smaller parts are not left out: that would save little, as the headers that describe a part have some 130 bytes. */
const MIN_LEFT_OUT_BYTES = 256;

/** The parts that are worth leaving out, largest first. */
function largestParts({ key, value, headers }: RawRecord): Part[] {
  const bytes = { value: length(value), headers: headerBytes(headers), key: length(key) };
  return (['value', 'headers', 'key'] as const)
    .filter((part) => bytes[part] > MIN_LEFT_OUT_BYTES)
    .sort((a, b) => bytes[b] - bytes[a]);
}

function without(
  leftOut: readonly Part[],
  source: Source,
  record: TimedRecord,
  { code, detail }: DeadLetterReason,
) {
  return {
    key: leftOut.includes('key') ? null : record.key,
    value: leftOut.includes('value') ? null : record.value,
    headers: {
      ...(leftOut.includes('headers') ? {} : writableHeaders(record.headers)),
      ranklog_id: causeId(source),
      ranklog_reason: code,
      ranklog_detail: detail,
      ranklog_topic: source.topic,
      ranklog_partition: String(source.partition),
      ranklog_offset: String(source.offset),
      ranklog_timestamp: String(record.timestamp),
      ...Object.fromEntries(leftOut.flatMap((part) => digestHeaders(part, record))),
    },
  };
}

/** Headers with the size of a left-out part, and with the digest of a key or a value. */
function digestHeaders(part: Part, { key, value, headers }: RawRecord): [string, string][] {
  if (part === 'headers') return [['ranklog_headers_bytes', String(headerBytes(headers))]];
  const bytes = (part === 'value' ? value : key) ?? Buffer.alloc(0);
  return [
    [`ranklog_${part}_bytes`, String(bytes.length)],
    [`ranklog_${part}_sha256`, createHash('sha256').update(bytes).digest('hex')],
  ];
}

/** A record that was a dead letter before can have these headers. They are dropped: the new dead letter may have all parts. */
const DIGEST_HEADERS = /^ranklog_(value|key|headers)_(bytes|sha256)$/;

/** Kafka allows headers without a value. kafkajs reads them as null, but throws when it has to write null. */
function writableHeaders(headers: RecordHeaders): Record<string, HeaderValue | HeaderValue[]> {
  const writable = (value: unknown) => (value ?? Buffer.alloc(0)) as HeaderValue;
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !DIGEST_HEADERS.test(name))
      .map(([name, value]) => [name, Array.isArray(value) ? value.map(writable) : writable(value)]),
  );
}

/** Bytes that Kafka adds to a batch, and at most to each record (lengths, timestamp, offset) and header (two lengths). */
const BATCH_OVERHEAD = 61;
const RECORD_OVERHEAD = 36;
const HEADER_OVERHEAD = 10;

/** The largest possible size of a batch with only this record, which max.message.bytes of a topic limits. */
export function batchBytes(record: Encodable): number {
  return BATCH_OVERHEAD + recordBytes(record);
}

/** The most that a record takes in a batch. */
export function recordBytes({ key, value, headers }: Encodable): number {
  return RECORD_OVERHEAD + length(key) + length(value) + headerBytes(headers);
}

function headerBytes(headers: RecordHeaders): number {
  let bytes = 0;
  for (const [name, given] of Object.entries(headers))
    for (const value of [given ?? null].flat())
      bytes += HEADER_OVERHEAD + Buffer.byteLength(name) + length(value);
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

/** What the headers of ranklog say about a dead letter. */
export interface DeadLetter extends Source, DeadLetterReason {
  /** That of the record, in ms. Missing in dead letters of earlier versions. */
  readonly timestamp?: number;
  /** If the record is a retry: the ids of the records before it, the original first. */
  readonly retryOf?: readonly string[];
  /** The parts of the record that were left out: only the log has them. `sha256` is hexadecimal, and undefined for headers. */
  readonly leftOut: readonly {
    readonly part: Part;
    readonly bytes: number;
    readonly sha256: string | undefined;
  }[];
}

/** undefined for a record that is not a dead letter. */
export function decodeDeadLetter({ headers }: RawRecord): DeadLetter | undefined {
  const code = headerText(headers, 'ranklog_reason');
  if (code === undefined) return undefined;
  const timestamp = headerText(headers, 'ranklog_timestamp');
  const retryOf = retriedIds(headers);
  return {
    code,
    detail: headerText(headers, 'ranklog_detail') ?? '',
    topic: headerText(headers, 'ranklog_topic') ?? '',
    partition: Number(headerText(headers, 'ranklog_partition')),
    offset: Number(headerText(headers, 'ranklog_offset')),
    ...(timestamp !== undefined && { timestamp: Number(timestamp) }),
    ...(retryOf.length > 0 && { retryOf }),
    leftOut: (['value', 'key', 'headers'] as const).flatMap((part) => {
      const bytes = headerText(headers, `ranklog_${part}_bytes`);
      const sha256 = headerText(headers, `ranklog_${part}_sha256`);
      return bytes === undefined ? [] : [{ part, bytes: Number(bytes), sha256 }];
    }),
  };
}

/** The record that retries a dead letter: the original key, value and headers, and headers that name the records before. */
export function encodeRetry({ key, value, headers }: RawRecord, letter: TimedSource) {
  const own = Object.entries(writableHeaders(headers)).filter(([name]) => !/^ranklog_/.test(name));
  return { key, value, headers: { ...Object.fromEntries(own), ...retryHeaders(headers, letter) } };
}
