import { columnValues } from './column-values.js';
import type { BoardDefinition } from './definition.js';
import { Rejected, type EventRejection } from './rejected.js';
import { EARLIEST_TIME, LATEST_TIME } from './sort-key.js';
import { formatTime } from './time.js';
import { MOST_VIEWS_OF_AN_EVENT, viewsOf, type Attributes, type ResolvedView } from './view.js';

/** What a board needs of a score event. Numbers are decimal texts, times ms since 1970. */
export interface ScoreInput {
  readonly playerId: string;
  readonly delta?: string;
  readonly deltas?: Readonly<Record<string, string>>;
  readonly occurredAt?: number;
  readonly eventId?: string;
  readonly attributes: Attributes;
}

/** An event in a board's own terms: a value per column in sort direction (null: not given), and the views it moves. */
export interface ResolvedEvent {
  readonly playerId: string;
  readonly occurredAt: number;
  readonly values: readonly (number | null)[];
  readonly views: readonly ResolvedView[];
  /** Only where the board drops duplicates. */
  readonly eventId?: string;
}

export type EventResolution =
  | { readonly ok: true; readonly event: ResolvedEvent }
  | { readonly ok: false; readonly rejection: EventRejection };

/**
 * An event as the board sees it, or the reason why it can never be applied. Pure: the log and the definition decide.
 * `recordTimestamp` (ms) is the record's own and stands in for a missing `occurredAt`.
 */
export function resolveEvent(
  definition: BoardDefinition,
  input: ScoreInput,
  recordTimestamp: number,
): EventResolution {
  try {
    const occurredAt = eventTime(definition, input, recordTimestamp);
    const { playerId, eventId } = input;
    const event = {
      playerId,
      occurredAt,
      values: columnValues(definition, input),
      views: eventViews(definition, input, occurredAt),
    };
    const deduplicated = definition.deduplicateMs !== undefined && eventId !== undefined;
    return { ok: true, event: deduplicated ? { ...event, eventId } : event };
  } catch (error) {
    if (error instanceof Rejected) return { ok: false, rejection: error.rejection };
    throw error;
  }
}

function eventTime(
  { board, maxAheadMs, notAfter = LATEST_TIME }: BoardDefinition,
  { occurredAt }: ScoreInput,
  recordTimestamp: number,
): number {
  const time = occurredAt ?? checkedTimestamp(recordTimestamp);
  const ahead = time - recordTimestamp;
  if (ahead > maxAheadMs)
    throw new Rejected(
      'TOO_FAR_AHEAD',
      `occurredAt is ${ahead} ms after the record's timestamp; board "${board}" takes up to ${maxAheadMs} ms (maxAhead)`,
    );
  if (time > notAfter)
    throw new Rejected(
      'TOO_FAR_AHEAD',
      `the event is dated ${formatTime(time)}; board "${board}" takes none after ${formatTime(notAfter)} (notAfter)`,
    );
  return time;
}

/** Producers may set any timestamp; only the years 0001 to 9999 have a place in the sort key. */
function checkedTimestamp(timestamp: number): number {
  if (timestamp >= EARLIEST_TIME && timestamp <= LATEST_TIME) return timestamp;
  throw new Rejected(
    'INVALID_TIME',
    `the event has no occurredAt, and the record's timestamp ${timestamp} lies outside the years 0001 to 9999`,
  );
}

function eventViews(
  definition: BoardDefinition,
  { attributes }: ScoreInput,
  occurredAt: number,
): readonly ResolvedView[] {
  const found = viewsOf(definition, attributes, occurredAt);
  if (found.ok) return found.views;
  if ('missing' in found)
    throw new Rejected(
      'MISSING_DIMENSION',
      `board "${definition.board}" ranks by the attribute "${found.missing}", which the event lacks`,
    );
  throw new Rejected(
    'TOO_MANY_VIEWS_OF_AN_EVENT',
    `the event would move more than ${MOST_VIEWS_OF_AN_EVENT} views of board "${definition.board}"; send fewer values in its attributes`,
  );
}
