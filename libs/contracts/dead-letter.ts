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

const MOST_DETAIL_BYTES = 1_024;

/**
 * The dead letter of a record: its key and value untouched, its headers, and what was wrong in headers of ranklog.
 * Those of an earlier dead letter, which was sent again as it was, are replaced.
 */
export function encodeDeadLetter(source: Source, record: RawRecord, code: string, detail: string) {
  return {
    key: record.key,
    value: record.value,
    headers: {
      ...writableHeaders(record.headers),
      ranklog_id: causeId(source),
      ranklog_reason: code,
      ranklog_detail: cutToBytes(detail, MOST_DETAIL_BYTES),
      ranklog_topic: source.topic,
      ranklog_partition: String(source.partition),
      ranklog_offset: String(source.offset),
    },
  };
}

/** Kafka allows a header without a value; kafkajs reads it as null, but throws when it is to write one. */
function writableHeaders(headers: RecordHeaders): Record<string, HeaderValue | HeaderValue[]> {
  const writable = (value: HeaderValue | null | undefined) => value ?? Buffer.alloc(0);
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      Array.isArray(value)
        ? value.map(writable)
        : writable(value as HeaderValue | null | undefined),
    ]),
  );
}

function cutToBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  // Decoding as a stream keeps back a character that the cut has split.
  return new TextDecoder().decode(Buffer.from(text).subarray(0, most), { stream: true });
}

/** What ranklog says of a dead letter; undefined for a record that is none. */
export function decodeDeadLetter({
  headers,
}: RawRecord): (Source & { code: string; detail: string }) | undefined {
  const code = headerText(headers, 'ranklog_reason');
  if (code === undefined) return undefined;
  return {
    code,
    detail: headerText(headers, 'ranklog_detail') ?? '',
    topic: headerText(headers, 'ranklog_topic') ?? '',
    partition: Number(headerText(headers, 'ranklog_partition')),
    offset: Number(headerText(headers, 'ranklog_offset')),
  };
}
