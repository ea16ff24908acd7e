import type { Redis } from 'ioredis';
import type { KeySpace, LiveBoard } from '#board-store';
import type { OracleBytes } from './oracle.js';
import { deleteKeys, keysOf } from '../../scripts/redis-client.mjs';

/** What the key names of a board are made from. */
export interface BoardPlace {
  readonly keys: KeySpace;
  readonly shard: number;
  readonly live: LiveBoard;
}

/**
 * A view as Redis has it: the ranking by ZRANGE WITHSCORES, with members in hex, and the players by
 * HGETALL, with states in hex.
 */
export async function readBytes(
  redis: Redis,
  { keys, shard, live: { generation } }: BoardPlace,
  view: string,
): Promise<OracleBytes> {
  const [ranking, players] = await Promise.all([
    redis.zrangeBuffer(keys.ranking(shard, generation, view), 0, -1, 'WITHSCORES'),
    redis.hgetallBuffer(keys.players(shard, generation, view)),
  ]);
  const pairs = ranking.flatMap((member, index) =>
    index % 2 === 0
      ? [{ score: String(Number(ranking[index + 1]!.toString())), member: member.toString('hex') }]
      : [],
  );
  const states = Object.entries(players).map(([id, state]) => [id, state.toString('hex')]);
  return { ranking: pairs, players: Object.fromEntries(states) as Record<string, string> };
}

/** Members of a ZSET with their scores. */
export async function readScores(redis: Redis, key: string): Promise<Map<string, number>> {
  const found = await redis.zrange(key, 0, -1, 'WITHSCORES');
  return new Map(
    found.flatMap((member, index) => (index % 2 === 0 ? [[member, Number(found[index + 1])]] : [])),
  );
}

/** Every key of a key space, as DUMP gives it. */
export type SavedKeys = ReadonlyMap<string, Buffer>;

export async function saveKeys(redis: Redis, keys: KeySpace): Promise<SavedKeys> {
  const names = await keysOf(redis, `${keys.prefix}:*`);
  const dumps = await Promise.all(names.map((name) => redis.dumpBuffer(name)));
  return new Map(names.map((name, index) => [name, dumps[index]!]));
}

/** Restores a saved key space; deletes keys that were added since. */
export async function restoreKeys(redis: Redis, keys: KeySpace, saved: SavedKeys): Promise<void> {
  await deleteKeys(redis, `${keys.prefix}:*`);
  await Promise.all([...saved].map(([name, dump]) => redis.restore(name, 0, dump)));
}
