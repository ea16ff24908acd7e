import { createHash } from 'node:crypto';
import type { RawRecord, RecordHeaders } from './record.js';

type HeaderValue = Buffer | string;

/** A record as it can be written. */
export interface WritableRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, HeaderValue | readonly HeaderValue[]>>;
}

/** What of a record can stay behind in the log, when a dead letter with all of it would be too large. */
export type Part = 'value' | 'headers' | 'key';

/** What Kafka adds to a batch, and at most to a record (its lengths, timestamp and offset) and to a header (two lengths). */
const BATCH_OVERHEAD = 61;
const RECORD_OVERHEAD = 36;
const HEADER_OVERHEAD = 10;

/** The words about a part that is left out take about as much. */
const LEAST_WORTH_LEAVING_OUT = 256;

/** The most that a batch with this record alone takes: what a topic's max.message.bytes is held against. */
export function batchBytes({ key, value, headers }: WritableRecord): number {
  return BATCH_OVERHEAD + RECORD_OVERHEAD + length(key) + length(value) + headerBytes(headers);
}

/** The parts that are worth leaving out, the largest first. */
export function largestParts(record: RawRecord): Part[] {
  const bytes: Record<Part, number> = {
    value: length(record.value),
    headers: headerBytes(record.headers),
    key: length(record.key),
  };
  return (Object.keys(bytes) as Part[])
    .filter((part) => bytes[part] > LEAST_WORTH_LEAVING_OUT)
    .sort((a, b) => bytes[b] - bytes[a]);
}

/** Headers that tell of a part that is left out: its size, and the digest of a value or a key. */
export function headersFor(part: Part, { key, value, headers }: RawRecord): Record<string, string> {
  if (part === 'headers') return { ranklog_headers_bytes: String(headerBytes(headers)) };
  const bytes = (part === 'value' ? value : key) ?? Buffer.alloc(0);
  return {
    [`ranklog_${part}_bytes`]: String(bytes.length),
    [`ranklog_${part}_sha256`]: createHash('sha256').update(bytes).digest('hex'),
  };
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
