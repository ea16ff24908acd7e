import { headerText, type RawRecord } from './record.js';

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

const LONGEST_DETAIL = 1_024;

/** The dead letter of a record: its key, value and headers untouched, and what was wrong in headers of ranklog. */
export function encodeDeadLetter(source: Source, record: RawRecord, code: string, detail: string) {
  return {
    key: record.key,
    value: record.value,
    headers: {
      ...(record.headers as Record<string, Buffer | string | (Buffer | string)[] | undefined>),
      ranklog_id: causeId(source),
      ranklog_reason: code,
      ranklog_detail: detail.slice(0, LONGEST_DETAIL),
      ranklog_topic: source.topic,
      ranklog_partition: String(source.partition),
      ranklog_offset: String(source.offset),
    },
  };
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
