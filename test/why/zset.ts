import type { Redis } from 'ioredis';
import type { Player } from './players.js';
import type { Recipe } from './recipes.js';

/** A player on a displayed board. */
export interface Placed {
  readonly id: string;
  readonly columns: readonly number[];
}

const PER_CALL = 2_000;
const INCREMENT = `
  for i = 1, #ARGV, 2 do redis.call('ZINCRBY', KEYS[1], ARGV[i], ARGV[i + 1]) end`;

/**
 * Ranks players in a real ZSET. Scores are negated, which loses no bit, and read in ascending
 * order. So equal scores are in the order of their ids, as in the exact order; ZREVRANGE would
 * reverse it.
 */
export async function rankedBy(
  { steps, shown }: Recipe,
  players: readonly Player[],
  { redis, key }: { redis: Redis; key: string },
): Promise<Placed[]> {
  const written = players.flatMap((player) =>
    steps(player).map((step) => [String(-step), player.id]),
  );
  for (const part of parts(written, PER_CALL)) await redis.eval(INCREMENT, 1, key, ...part.flat());
  const [ids, scores] = alternating(await redis.zrange(key, 0, -1, 'WITHSCORES'));
  await redis.unlink(key);
  return ids.map((id, index) => ({ id, columns: shown(-Number(scores[index])) }));
}

export function parts<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

function alternating(flat: readonly string[]): [string[], string[]] {
  return [flat.filter((_, index) => index % 2 === 0), flat.filter((_, index) => index % 2 === 1)];
}
