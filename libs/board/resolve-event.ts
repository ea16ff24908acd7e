import { RejectedEventError, type EventRejectionCode } from './board-errors.js';
import { columnValues, type EventNumbers } from './column-values.js';
import type { BoardDefinition, RecordPlace } from './definition.js';
import { EARLIEST_TIME, formatTime, LATEST_TIME } from './time.js';
import { viewsOf, type Attributes, type ResolvedView } from './view.js';
import { isVoided } from './voids.js';

/** The fields of a score event that a board reads. Numbers are decimal texts, times are in ms. */
export interface ScoreInput extends EventNumbers {
  readonly playerId: string;
  readonly occurredAt?: number;
  readonly eventId?: string;
  readonly attributes: Attributes;
  /** Set if the record is a retry: the records that it repeats, the original first. */
  readonly retryOf?: readonly RecordPlace[];
}

/**
 * An event in the terms of a board: a value per column in sort direction (null: none sent), and the
 * views that it moves.
 */
export interface ResolvedEvent {
  readonly playerId: string;
  readonly occurredAt: number;
  readonly values: readonly (number | null)[];
  readonly views: readonly ResolvedView[];
  /** Set only if the board drops duplicates. */
  readonly eventId?: string;
}

export type EventResolution =
  | { readonly ok: true; readonly event: ResolvedEvent }
  | { readonly ok: false; readonly code: EventRejectionCode; readonly detail: string };

/**
 * An event in the terms of a board, or why it can never be applied. Pure. `recordTimestamp` (ms)
 * replaces a missing `occurredAt`. Windows that had closed at `closedBy` (ms) are left out.
 * WINDOW_CLOSED is checked last: an event with another fault is refused for that. A record without
 * a timestamp has -1, so it counts in all windows that end after 1969.
 */
export function resolveEvent(
  definition: BoardDefinition,
  input: ScoreInput,
  recordTimestamp: number,
  closedBy = recordTimestamp,
): EventResolution {
  try {
    const occurredAt = eventTime(definition, input, recordTimestamp);
    const { playerId, eventId } = input;
    const event = {
      playerId,
      occurredAt,
      values: columnValues(definition, input),
      views: viewsOf(definition, input.attributes, occurredAt, closedBy),
    };
    const deduplicated = definition.deduplicateMs !== undefined && eventId !== undefined;
    return { ok: true, event: deduplicated ? { ...event, eventId } : event };
  } catch (error) {
    if (!(error instanceof RejectedEventError)) throw error;
    return { ok: false, code: error.code, detail: error.message };
  }
}

/** One list for all voided events, as events with the same list share the arguments of a script. */
const NO_VIEWS: readonly ResolvedView[] = [];

/**
 * Like resolveEvent, for an event that is in the log. A voided event changes no view. It still
 * moves the clocks, and its event id is kept: otherwise a duplicate would count in its place.
 */
export function resolveRecord(
  definition: BoardDefinition,
  input: ScoreInput,
  partition: number,
  record: Omit<RecordPlace, 'partition'>,
): EventResolution {
  const resolution = resolveEvent(definition, input, record.timestamp);
  if (!resolution.ok || !isVoided(definition, input, partition, record)) return resolution;
  return { ok: true, event: { ...resolution.event, views: NO_VIEWS } };
}

function eventTime(
  { board, maxAheadMs, notAfter = LATEST_TIME }: BoardDefinition,
  { occurredAt }: ScoreInput,
  recordTimestamp: number,
): number {
  const time = occurredAt ?? checkedTimestamp(recordTimestamp);
  const ahead = time - recordTimestamp;
  if (ahead > maxAheadMs)
    throw new RejectedEventError(
      'TOO_FAR_AHEAD',
      `occurredAt is ${ahead} ms after the record's timestamp; board "${board}" allows ` +
        `${maxAheadMs} ms (maxAhead)`,
    );
  if (time > notAfter)
    throw new RejectedEventError(
      'TOO_FAR_AHEAD',
      `the event is dated ${formatTime(time)}; board "${board}" allows times up to ` +
        `${formatTime(notAfter)} (notAfter)`,
    );
  return time;
}

/** Producers can set any timestamp, but sort keys can only hold the years 0001 to 9999. */
function checkedTimestamp(timestamp: number): number {
  if (timestamp >= EARLIEST_TIME && timestamp <= LATEST_TIME) return timestamp;
  throw new RejectedEventError(
    'INVALID_TIME',
    `the event has no occurredAt, and the record's timestamp ${timestamp} is outside the years ` +
      '0001 to 9999',
  );
}
