import type { ScoreRange } from '#board-store';
import { parseTime } from '#board/time';
import type { CountQuery } from '../dto/requests.js';

/** A query in the form for the reader: `at` in ms, and the range `min` to `max` as `scores`. */
export function viewRequest<Query extends Pick<CountQuery, 'at' | 'min' | 'max'>>({
  at,
  min,
  max,
  ...rest
}: Query) {
  // With `scores`, the reader counts the players in the range.
  const isRange = min !== undefined || max !== undefined;
  const scores: ScoreRange | undefined = isRange ? { min, max } : undefined;
  return { ...rest, at: momentOf(at), scores };
}

/** The time of a string that the DTO has checked. */
export function momentOf(at: string | undefined): number | undefined {
  return at === undefined ? undefined : parseTime(at);
}
