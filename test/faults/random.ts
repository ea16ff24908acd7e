export type Random = () => number;

/** A random whole number from 0 to limit - 1. */
export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

export function pick<T>(random: Random, items: readonly T[]): T {
  const item = items[below(random, items.length)];
  if (item === undefined) throw new Error('there are no items to pick from');
  return item;
}
