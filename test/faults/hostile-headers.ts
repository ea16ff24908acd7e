import type { IHeaders, Message } from 'kafkajs';
import { HOSTILE_NAMES } from '../support/record-headers.js';
import { below, pick, type Random } from './random.js';

/**
 * kafkajs sends names as texts. In a compressed batch, `withRawNames` makes the first two bytes of
 * this one invalid.
 */
const RAW_NAME = '\u0001\u0001 raw';
const RAW_BYTES = [0xff, 0xfe];
const NAMES = [...HOSTILE_NAMES.filter((name) => typeof name === 'string'), RAW_NAME];
/**
 * kafkajs sends values of any bytes, but no missing ones. Commas, tabs and line ends would confuse
 * readers of the console consumer.
 */
const VALUES = ['', 'x', 'ü', Buffer.from([0xff, 0, 0x80]), 'y'.repeat(300)];
const MOST_NAMES = 4;
const MOST_REPEATS = 3;
const SHARE_OF_MANY = 0.15;
/** With more than 256 headers, a record is a dead letter. */
const MANY = [256, 257, 1_000];

/**
 * Adds headers to a record: names of properties of objects, repeated and empty names, values of any
 * bytes, or very many.
 */
export function withHostileHeaders(random: Random, record: Message): Message {
  const headers: IHeaders = { ...record.headers };
  // The last one counts.
  if (typeof headers['ce_id'] === 'string') headers['ce_id'] = ['another id', headers['ce_id']];
  for (let left = 1 + below(random, MOST_NAMES); left > 0; left--) {
    const repeats = 1 + below(random, MOST_REPEATS);
    const values = Array.from({ length: repeats }, () => pick(random, VALUES));
    setHeader(headers, pick(random, NAMES), values);
  }
  // A record that is dated ahead is retried, and a retry has more headers than its record.
  const isRetried = record.timestamp !== undefined;
  if (!isRetried && random() < SHARE_OF_MANY) fillUp(headers, pick(random, MANY));
  return { ...record, headers };
}

/** Also for __proto__, which an assignment would not add. */
function setHeader(headers: IHeaders, name: string, value: (Buffer | string)[]): void {
  Object.defineProperty(headers, name, { value, enumerable: true, configurable: true });
}

/**
 * Adds headers until there are `count`; a repeated one counts as several. Half of them have the
 * same name.
 */
function fillUp(headers: IHeaders, count: number): void {
  const missing = count - Object.values(headers).flat().length;
  const repeated = Math.floor(missing / 2);
  headers['many'] = Array.from({ length: repeated }, (_, index) => String(index));
  for (let index = repeated; index < missing; index++) headers[`header ${index}`] = String(index);
}

/** Makes some names of headers in these records invalid as UTF-8. */
export function withRawNames(records: Buffer): Buffer {
  const bytes = Buffer.from(records);
  for (let at = bytes.indexOf(RAW_NAME); at >= 0; at = bytes.indexOf(RAW_NAME, at))
    bytes.set(RAW_BYTES, at);
  return bytes;
}

/** A name as the load has sent it: decoding has replaced each invalid byte. */
export function withSentNames(name: string): string {
  return name.replace('\uFFFD\uFFFD raw', RAW_NAME);
}
