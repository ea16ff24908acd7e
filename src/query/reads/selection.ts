import type { ScoreRange } from '#board-store';
import { parseTime } from '#board/time';
import type { CountQuery } from '../dto/requests.js';

/**
 * A query of a view as the reader takes it: `at` in ms, and the range `min` to `max` as `scores`.
 */
export function viewRequest<Query extends Pick<CountQuery, 'at' | 'min' | 'max'>>({
  at,
  min,
  max,
  ...rest
}: Query) {
  // Only then, the reader counts the players in it
  const isRange = min !== undefined || max !== undefined;
  const scores: ScoreRange | undefined = isRange ? { min, max } : undefined;
  return { ...rest, at: momentOf(at), scores };
}

/** The time of a string that the DTO has checked. */
export function momentOf(at: string | undefined): number | undefined {
  return at === undefined ? undefined : parseTime(at);
}
