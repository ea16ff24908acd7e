import type { Starts } from '#board-store';

/** `45 s`, `12 min`, `3 h 20 min`, `2 d 4 h`. */
export function durationText(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds));
  if (whole < 120) return `${whole} s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 120) return `${minutes} min`;
  if (minutes < 2 * 1_440) return twoUnits(minutes, 60, ['h', 'min']);
  return twoUnits(Math.round(minutes / 60), 24, ['d', 'h']);
}

function twoUnits(value: number, size: number, [large, small]: readonly [string, string]): string {
  const rest = value % size;
  const head = `${Math.floor(value / size)} ${large}`;
  return rest === 0 ? head : `${head} ${rest} ${small}`;
}

/** `1.2 MB`, `340 MB`, `5.1 GB`. */
export function bytesText(bytes: number): string {
  const megabytes = bytes / 1_048_576;
  if (megabytes >= 1_000) return `${(megabytes / 1_024).toFixed(1)} GB`;
  return megabytes >= 10 ? `${Math.round(megabytes)} MB` : `${megabytes.toFixed(1)} MB`;
}

/** `1,234,567`. */
export function countText(count: number): string {
  return count.toLocaleString('en-US');
}

/** How to build what a partial generation lacks. */
export const WHOLE_LOG_HINT = '"--from start" reads the whole log';

/** The first offset of a generation in each partition, as JSON. */
export function startsJson(starts: Starts): Record<string, number> {
  return Object.fromEntries(starts); // an object orders its integer keys by number
}

/** `partial, from 0:1200 1:998`: partitions with their first offsets. */
export function startsText(startsAt: Readonly<Record<string, number>>): string {
  const places = Object.entries(startsAt).map(([partition, from]) => `${partition}:${from}`);
  return `partial, from ${places.join(' ')}`;
}
