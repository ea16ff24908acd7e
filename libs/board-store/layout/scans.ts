import { rowsOf } from '../lua/scripts.js';
import type { RedisClient } from './redis-client.js';

/** How many fields of a hash one call looks at, so that it is short however large the hash is. */
export const FIELDS_A_CALL = 1_000;

/**
 * The fields and values of a hash, page by page. Finds every field that is there during the whole
 * scan. Cost: one request for each FIELDS_A_CALL fields.
 */
export async function* scanHash(
  redis: RedisClient,
  key: string,
): AsyncGenerator<readonly (readonly [field: string, value: string])[]> {
  let cursor = '0';
  do {
    const [next, words] = await redis.hscan(key, cursor, 'COUNT', FIELDS_A_CALL);
    yield rowsOf(words, 2).map(([field = '', value = '']) => [field, value]);
    cursor = next;
  } while (cursor !== '0');
}

const MOST_SCANS = 10;

/**
 * The fields and values of a hash that may have one for each board. Scans again if the hash changed
 * meanwhile, or if its server did: another one has its fields in another order, so that a scan
 * misses some.
 * Cost: as scanHash, and one request.
 */
export async function readHash(redis: RedisClient, key: string): Promise<Map<string, string>> {
  for (let scan = 1; scan <= MOST_SCANS; scan++) {
    const found = new Map<string, string>();
    for await (const page of scanHash(redis, key))
      for (const [field, value] of page) found.set(field, value);
    if ((await redis.hlen(key)) === found.size) return found;
  }
  throw new Error(`the hash ${key} changed during each of ${MOST_SCANS} scans`);
}

/** A list in parts of FIELDS_A_CALL items at most, for calls that name each item. */
export function partsOf<T>(list: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(list.length / FIELDS_A_CALL) }, (_, part) =>
    list.slice(part * FIELDS_A_CALL, (part + 1) * FIELDS_A_CALL),
  );
}
