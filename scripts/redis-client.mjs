// @ts-check
// Redis for tests, benchmarks and the demo: one server, a cluster, or a primary with sentinels.
import { openRedis as open } from '#servers';

/** @typedef {import('ioredis').Redis} Redis */

/**
 * A client of REDIS_URL. A client of a cluster has the type `Redis` here, as both have the same
 * commands; commands without keys, such as KEYS, go to one node only: see `primariesOf`.
 * @param {string} [url] @param {import('ioredis').RedisOptions} [options]
 */
export function openRedis(url = process.env['REDIS_URL'] ?? '', options) {
  return /** @type {Redis} */ (open(url, options));
}

/**
 * A connection to each primary: one, unless it is a cluster.
 * @param {Redis} redis
 * @returns {Redis[]}
 */
export function primariesOf(redis) {
  if (!redis.isCluster) return [redis];
  const cluster = /** @type {import('ioredis').Cluster} */ (/** @type {unknown} */ (redis));
  return cluster.nodes('master');
}

/**
 * The keys of all primaries that match a pattern.
 * @param {Redis} redis @param {string} pattern
 */
export async function keysOf(redis, pattern) {
  const found = await Promise.all(primariesOf(redis).map((node) => node.keys(pattern)));
  return found.flat();
}

/** @param {Redis} redis @param {string} pattern */
export async function deleteKeys(redis, pattern) {
  const keys = await keysOf(redis, pattern);
  await Promise.all(keys.map((key) => redis.unlink(key))); // one by one: they have different slots
}
