import type { Starts } from '#board-store';

/** How a generation comes to have what the one before lacks. */
export const ALL_THE_LOG = '"--from start" takes all that the log has';

/** Where a generation begins in the log, by partition, as JSON. */
export function startsJson(starts: Starts): Record<string, number> {
  return Object.fromEntries(starts); // keys that are numbers are in their order
}

/** `partial, from 0:1200 1:998`: partitions and their first offsets. */
export function startsText(starts: Starts): string {
  return placesText(startsJson(starts));
}

/** The same of the JSON. */
export function placesText(startsAt: Readonly<Record<string, number>>): string {
  const places = Object.entries(startsAt).map(([partition, from]) => `${partition}:${from}`);
  return `partial, from ${places.join(' ')}`;
}
