import { parseDecimal } from './decimal.js';
import type { BoardDefinition, Column } from './definition.js';
import { EARLIEST_TIME, LATEST_TIME } from './sort-key.js';
import { sortDirection } from './state.js';
import { viewsOf } from './view.js';

/** What a board needs of a score event. Numbers are decimal texts, times ms since 1970. */
export interface ScoreInput {
  readonly playerId: string;
  readonly delta?: string;
  readonly deltas?: Readonly<Record<string, string>>;
  readonly occurredAt?: number;
  readonly attributes: Readonly<Record<string, string>>;
}

/** An event in a board's own terms: a value per column in sort direction (null: not given), and the views it moves. */
export interface ResolvedEvent {
  readonly playerId: string;
  readonly occurredAt: number;
  readonly values: readonly (number | null)[];
  readonly views: readonly string[];
}

/** Why a board can't take an event that is well-formed in itself. */
export interface EventRejection {
  readonly code: EventRejectionCode;
  readonly detail: string;
}
export type EventRejectionCode =
  | 'UNKNOWN_COLUMN'
  | 'MISSING_COLUMN'
  | 'DELTA_NEEDS_ONE_COLUMN'
  | 'MISSING_DIMENSION'
  | 'INVALID_NUMBER'
  | 'TOO_MANY_DECIMALS'
  | 'OUT_OF_RANGE'
  | 'INVALID_TIME'
  | 'TOO_FAR_AHEAD';

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
    return {
      ok: true,
      event: {
        playerId: input.playerId,
        occurredAt: eventTime(definition, input, recordTimestamp),
        values: columnValues(definition, input),
        views: eventViews(definition, input),
      },
    };
  } catch (error) {
    if (error instanceof Rejected) return { ok: false, rejection: error.rejection };
    throw error;
  }
}

/** Carries a rejection out of the helpers below; never leaves this file. */
class Rejected extends Error {
  readonly rejection: EventRejection;
  constructor(code: EventRejectionCode, detail: string) {
    super(detail);
    this.rejection = { code, detail };
  }
}

function eventTime(
  { board, maxAheadMs }: BoardDefinition,
  { occurredAt }: ScoreInput,
  recordTimestamp: number,
): number {
  if (occurredAt === undefined) return checkedTimestamp(recordTimestamp);
  const ahead = occurredAt - recordTimestamp;
  if (ahead <= maxAheadMs) return occurredAt;
  throw new Rejected(
    'TOO_FAR_AHEAD',
    `occurredAt is ${ahead} ms after the record's timestamp; board "${board}" takes up to ${maxAheadMs} ms (maxAhead)`,
  );
}

/** Producers may set any timestamp; only the years 0001 to 9999 have a place in the sort key. */
function checkedTimestamp(timestamp: number): number {
  if (timestamp >= EARLIEST_TIME && timestamp <= LATEST_TIME) return timestamp;
  throw new Rejected(
    'INVALID_TIME',
    `the event has no occurredAt, and the record's timestamp ${timestamp} lies outside the years 0001 to 9999`,
  );
}

function columnValues(
  definition: BoardDefinition,
  { delta, deltas }: ScoreInput,
): (number | null)[] {
  const { board, columns } = definition;
  const given = deltas ?? onlyColumn(definition, delta);
  const unknown = Object.keys(given).find(
    (name) => !columns.some((column) => column.name === name),
  );
  if (unknown !== undefined)
    throw new Rejected(
      'UNKNOWN_COLUMN',
      `board "${board}" has no column ${JSON.stringify(unknown)}; it has ${names(columns)}`,
    );
  return columns.map((column) =>
    columnValue(board, column, Object.hasOwn(given, column.name) ? given[column.name] : undefined),
  );
}

function onlyColumn({ board, columns }: BoardDefinition, delta: string | undefined) {
  const [column, second] = columns;
  if (delta === undefined || column === undefined || second !== undefined)
    throw new Rejected(
      'DELTA_NEEDS_ONE_COLUMN',
      `board "${board}" has the columns ${names(columns)}; send "deltas" with a value for each in place of "delta"`,
    );
  return { [column.name]: delta };
}

function columnValue(board: string, column: Column, text: string | undefined): number | null {
  if (text === undefined) {
    if (column.update === 'sum') return null;
    throw new Rejected(
      'MISSING_COLUMN',
      `board "${board}" keeps the ${column.update} of "${column.name}", so every event needs it`,
    );
  }
  const parsed = parseDecimal(text, column.decimals);
  if (parsed.ok) return sortDirection(column, parsed.minor);
  const value = `column "${column.name}" of board "${board}": ${JSON.stringify(text.slice(0, 80))}`;
  switch (parsed.reason) {
    case 'NOT_A_DECIMAL':
      throw new Rejected('INVALID_NUMBER', `${value} is not a decimal number such as 12 or -0.5`);
    case 'TOO_MANY_DECIMALS':
      throw new Rejected(
        'TOO_MANY_DECIMALS',
        `${value} has more decimals than the column's ${column.decimals}`,
      );
    case 'OUT_OF_RANGE':
      throw new Rejected('OUT_OF_RANGE', `${value} is beyond +-(2^53-1) minor units`);
  }
}

function eventViews(definition: BoardDefinition, { attributes }: ScoreInput): string[] {
  const found = viewsOf(definition, attributes);
  if (found.ok) return found.views;
  throw new Rejected(
    'MISSING_DIMENSION',
    `board "${definition.board}" ranks by the attribute "${found.missing}", which the event lacks`,
  );
}

function names(columns: readonly Column[]): string {
  return columns.map(({ name }) => name).join(', ');
}
