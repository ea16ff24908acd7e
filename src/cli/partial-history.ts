import type { Starts } from '#board-store';

/** Where a generation begins in the log, by partition, as JSON. */
export function startsJson(starts: Starts): Record<string, number> {
  return Object.fromEntries([...starts].sort(([a], [b]) => a - b));
}

/** `partial, from 0:1200 1:998`: partitions and their first offsets. */
export function startsText(starts: Starts): string {
  const places = Object.entries(startsJson(starts)).map(
    ([partition, from]) => `${partition}:${from}`,
  );
  return `partial, from ${places.join(' ')}`;
}
