import { batchBytes, headersFor, largestParts, type Part } from './dead-letter-parts.js';
import { headerText, type RawRecord, type RecordHeaders } from './record.js';

type HeaderValue = Buffer | string;

/** Where a record of the score topic stands. */
export interface Source {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** `topic/partition/offset`: the id of whatever the record caused. Derived, so a subscriber can always deduplicate. */
export function causeId({ topic, partition, offset }: Source): string {
  return `${topic}/${partition}/${offset}`;
}

/** Why a record became a dead letter. */
export interface DeadLetterReason {
  readonly code: string;
  readonly detail: string;
}

const MOST_DETAIL_BYTES = 1_024;

/**
 * The dead letter of a record: its key and value untouched, its headers, and what was wrong in headers of ranklog.
 * Those of an earlier dead letter, which was sent again as it was, are replaced. When a batch with all of it would be
 * larger than `mostBytes`, the largest part stays behind in the log, then the next: headers tell its size and digest.
 */
export function encodeDeadLetter(
  source: Source,
  record: RawRecord,
  reason: DeadLetterReason,
  mostBytes = Infinity,
) {
  const leftOut: Part[] = [];
  const parts = largestParts(record);
  for (;;) {
    const letter = without(leftOut, source, record, reason);
    const next = batchBytes(letter) > mostBytes ? parts.shift() : undefined;
    if (next === undefined) return letter;
    leftOut.push(next);
  }
}

function without(
  leftOut: readonly Part[],
  source: Source,
  record: RawRecord,
  { code, detail }: DeadLetterReason,
) {
  const digests = leftOut.map((part) => headersFor(part, record));
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
      ...Object.fromEntries(digests.flatMap(Object.entries)),
    },
  };
}

/** Of an earlier dead letter: it may be small enough by now, and then nothing would replace them. */
const DIGEST_HEADERS = /^ranklog_(value|key|headers)_(bytes|sha256)$/;

/** Kafka allows a header without a value; kafkajs reads it as null, but throws when it is to write one. */
function writableHeaders(headers: RecordHeaders): Record<string, HeaderValue | HeaderValue[]> {
  const writable = (value: HeaderValue | null | undefined) => value ?? Buffer.alloc(0);
  return Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !DIGEST_HEADERS.test(name))
      .map(([name, value]) => [
        name,
        Array.isArray(value)
          ? value.map(writable)
          : writable(value as HeaderValue | null | undefined),
      ]),
  );
}

/** The detail of a dead letter, cut to 1,024 bytes of UTF-8 in whole characters. */
export function cutDetail(detail: string): string {
  if (Buffer.byteLength(detail) <= MOST_DETAIL_BYTES) return detail;
  // Decoding as a stream keeps back a character that the cut has split.
  return new TextDecoder().decode(Buffer.from(detail).subarray(0, MOST_DETAIL_BYTES), {
    stream: true,
  });
}

/** A part of the record that is not in its dead letter, but in the log at the place that the dead letter names. */
export interface LeftOutPart {
  readonly part: Part;
  readonly bytes: number;
  /** In hexadecimal; of headers there is none. */
  readonly sha256: string | undefined;
}

/** What ranklog says of a dead letter. */
export interface DeadLetter extends Source, DeadLetterReason {
  /** Empty for a dead letter that has all of its record. */
  readonly leftOut: readonly LeftOutPart[];
}

/** What ranklog says of a dead letter; undefined for a record that is none. */
export function decodeDeadLetter({ headers }: RawRecord): DeadLetter | undefined {
  const code = headerText(headers, 'ranklog_reason');
  if (code === undefined) return undefined;
  return {
    code,
    detail: headerText(headers, 'ranklog_detail') ?? '',
    topic: headerText(headers, 'ranklog_topic') ?? '',
    partition: Number(headerText(headers, 'ranklog_partition')),
    offset: Number(headerText(headers, 'ranklog_offset')),
    leftOut: (['value', 'key', 'headers'] as const).flatMap((part) => {
      const bytes = headerText(headers, `ranklog_${part}_bytes`);
      const sha256 = headerText(headers, `ranklog_${part}_sha256`);
      return bytes === undefined ? [] : [{ part, bytes: Number(bytes), sha256 }];
    }),
  };
}
