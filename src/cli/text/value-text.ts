/** `45 s`, `12 min`, `3.5 h`, `2.1 d`. */
export function durationText(seconds: number): string {
  if (seconds < 120) return `${Math.max(1, Math.round(seconds))} s`;
  const hours = seconds / 3_600;
  if (hours < 2) return `${Math.round(60 * hours)} min`;
  return hours < 48 ? `${tenths(hours)} h` : `${tenths(hours / 24)} d`;
}

function tenths(value: number): number {
  return Math.round(10 * value) / 10;
}

/** `1,234,567`. */
export function countText(count: number): string {
  return count.toLocaleString('en-US');
}

/** How to build what a partial generation lacks. */
export const WHOLE_LOG_HINT = '"--from start" reads the whole log';

/** `partial, from 0:1200 1:998`: partitions with their first offsets. */
export function partialText(startsAt: Readonly<Record<string, number>>): string {
  const places = Object.entries(startsAt).map(([partition, from]) => `${partition}:${from}`);
  return `partial, from ${places.join(' ')}`;
}
