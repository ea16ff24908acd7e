import { EncodedHeaders } from '../../libs/kafka-batch/kafkajs/record-headers.js';

/** A header as producers can send it, even one whose name is not UTF-8. */
export type SentHeader = readonly [name: Buffer | string, value: Buffer | string | null];

/**
 * Names that are properties of objects or arrays, that objects order as numbers, or that are not
 * UTF-8.
 */
export const HOSTILE_NAMES: readonly (Buffer | string)[] = [
  ...['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf', 'length', 'then', 'at'],
  ...['', '0', '-1', '\0', 'e\u0301', '\u{10FFFF}', 'ranklog_id', 'ranklog_value_bytes'],
  ...[Buffer.from([0xff]), Buffer.from([0xed, 0xa0, 0xbd])],
];

/** Headers as the bytes of a record. */
export function encodeHeaders(headers: readonly SentHeader[]): EncodedHeaders {
  const parts = headers.flatMap(([name, value]) => [...sized(name), ...sized(value)]);
  return new EncodedHeaders(headers.length, Buffer.concat(parts), 0);
}

function sized(part: Buffer | string | null): Buffer[] {
  if (part === null) return [varint(-1)];
  const bytes = Buffer.from(part);
  return [varint(bytes.length), bytes];
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = ((value << 1) ^ (value >> 31)) >>> 0;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
