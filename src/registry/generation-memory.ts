import type { Redis } from 'ioredis';
import type { KeySpace } from '#board-store';

/** A live generation and its views, with their players. */
export interface MeasuredGeneration {
  readonly shard: number;
  readonly generation: string;
  readonly views: readonly { readonly view: string; readonly size: number }[];
}

/** How many views are asked for their memory: the largest, and as many of the others. */
const MOST_LARGEST = 24;
const MOST_OTHERS = 24;
/** How many members of a key Redis looks at. */
const SAMPLES = 50;

/**
 * What the rankings and players of a generation take, in bytes. The largest views are measured, of the others a few, from which
 * the rest follows. Cost: two cheap commands a view that is measured, 48 at most.
 */
export async function generationMemory(
  redis: Redis,
  keys: KeySpace,
  { shard, generation, views }: MeasuredGeneration,
): Promise<number> {
  const bySize = [...views].sort((a, b) => b.size - a.size);
  const largest = bySize.slice(0, MOST_LARGEST);
  const rest = bySize.slice(MOST_LARGEST);
  const others = spread(rest, MOST_OTHERS);
  const bytesOf = async (some: readonly { view: string }[]) => {
    const all = some.flatMap(({ view }) => [
      keys.ranking(shard, generation, view),
      keys.players(shard, generation, view),
    ]);
    return sum(await Promise.all(all.map((key) => redis.memory('USAGE', key, 'SAMPLES', SAMPLES))));
  };
  const measured = await bytesOf(others);
  const share = others.length === 0 ? 0 : players(rest) / players(others);
  return Math.round((await bytesOf(largest)) + measured * share);
}

/** At most `most` of a list, evenly. */
function spread<T>(list: readonly T[], most: number): T[] {
  const step = Math.max(1, list.length / most);
  return list.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}

function players(views: readonly { readonly size: number }[]): number {
  return sum(views.map(({ size }) => size));
}

function sum(numbers: readonly (number | null)[]): number {
  return numbers.reduce<number>((total, number) => total + (number ?? 0), 0);
}
