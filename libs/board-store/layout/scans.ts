import { rowsOf } from '../lua/scripts.js';
import type { RedisClient } from './redis-client.js';

/**
 * About how many fields of a hash one call reads. This keeps the call short if the hash is large.
 */
export const FIELDS_A_CALL = 1_000;

/**
 * The fields and values of a hash, page by page. Finds every field that exists during the whole
 * scan.
 * Cost: one request for each FIELDS_A_CALL fields.
 */
export async function* scanHash(
  redis: RedisClient,
  key: string,
): AsyncGenerator<readonly (readonly [field: string, value: string])[]> {
  let cursor = '0';
  do {
    const [next, fieldsAndValues] = await redis.hscan(key, cursor, 'COUNT', FIELDS_A_CALL);
    yield rowsOf(fieldsAndValues, 2).map(([field = '', value = '']) => [field, value]);
    cursor = next;
  } while (cursor !== '0');
}

const MOST_SCANS = 10;

/**
 * The fields and values of a hash that may have one for each board. A scan can miss fields if the
 * hash changes meanwhile, or if another server answers: it has the fields in another order. So this
 * scans again unless it found as many fields as the hash has.
 * Cost: as scanHash, and one request.
 */
export async function readHash(redis: RedisClient, key: string): Promise<Map<string, string>> {
  for (let scan = 1; scan <= MOST_SCANS; scan++) {
    const found = new Map<string, string>();
    for await (const page of scanHash(redis, key))
      for (const [field, value] of page) found.set(field, value);
    const length = await redis.hlen(key);
    if (length === found.size) return found;
  }
  throw new Error(`the hash ${key} changed during each of ${MOST_SCANS} scans`);
}

/** A list in parts of at most FIELDS_A_CALL items, for calls that name each item. */
export function partsOf<T>(list: readonly T[]): T[][] {
  const parts: T[][] = [];
  for (let begin = 0; begin < list.length; begin += FIELDS_A_CALL)
    parts.push(list.slice(begin, begin + FIELDS_A_CALL));
  return parts;
}
