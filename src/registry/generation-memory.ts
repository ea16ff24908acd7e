import type { Redis } from 'ioredis';
import type { KeySpace } from '#board-store';

/** A generation, and how many players each of its views has. */
export interface MeasuredGeneration {
  readonly shard: number;
  readonly generation: string;
  readonly views: readonly { readonly view: string; readonly size: number }[];
}

/** How many views are measured: the largest, and a sample of the others. */
const LARGEST_VIEWS = 24;
const SAMPLED_VIEWS = 24;
/** How many members of a key Redis looks at. */
const SAMPLES = 50;

/**
 * Memory of the rankings and players of a generation, in bytes: measured for the largest views, extrapolated by players for
 * the others. Cost: two cheap commands for each of at most 48 views.
 */
export async function generationMemory(
  redis: Redis,
  keys: KeySpace,
  { shard, generation, views }: MeasuredGeneration,
): Promise<number> {
  const bySize = [...views].sort((a, b) => b.size - a.size);
  const largest = bySize.slice(0, LARGEST_VIEWS);
  const rest = bySize.slice(LARGEST_VIEWS);
  const step = Math.max(1, rest.length / SAMPLED_VIEWS);
  const sampled = rest.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step));
  const bytesOf = async (some: readonly { view: string }[]) => {
    const all = some.flatMap(({ view }) => [
      keys.ranking(shard, generation, view),
      keys.players(shard, generation, view),
    ]);
    return sum(await Promise.all(all.map((key) => redis.memory('USAGE', key, 'SAMPLES', SAMPLES))));
  };
  const share = sampled.length === 0 ? 0 : players(rest) / players(sampled);
  return Math.round((await bytesOf(largest)) + (await bytesOf(sampled)) * share);
}

function players(views: readonly { readonly size: number }[]): number {
  return sum(views.map(({ size }) => size));
}

function sum(numbers: readonly (number | null)[]): number {
  return numbers.reduce<number>((total, number) => total + (number ?? 0), 0);
}
