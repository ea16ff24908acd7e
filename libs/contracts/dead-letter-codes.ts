// To add a reason: add its code here. A reason that a board raises goes into `EventRejectionCode`
// of libs/board/board-errors.ts, too. Raise it in decode-score-event.ts (the form of a record),
// libs/board (the rules of a board) or libs/board-store/lua/includes/run.lua (its state). Add its
// row to docs/reference/dead-letters.md, which a spec compares, and run `npm run api-docs`.

/**
 * Every reason for a dead letter: what is wrong, and what to do. A spec compares
 * docs/reference/dead-letters.md.
 */
export const DEAD_LETTER_CODES = {
  EMPTY_VALUE:
    'The record has no value (null or empty). Do not send tombstones to the score topic.',
  NOT_UTF8: 'The value is not UTF-8. Send JSON in UTF-8.',
  NOT_JSON: 'The value is not JSON. Send one JSON object in each record.',
  NESTED_TOO_DEEPLY:
    'The value has more than 100 levels of nested objects and arrays. Send a flatter value.',
  NOT_AN_OBJECT: 'The value is JSON, but not an object. Send one score event in each record.',
  TOO_MANY_HEADERS:
    'The record has more than 256 headers, so its dead letter has none of them. Send fewer ' +
    'headers.',
  UNSUPPORTED_CLOUDEVENT:
    'The CloudEvents headers name a version, mode or content type that ranklog does not ' +
    'accept. Use version 1.0, binary mode and JSON; or send plain JSON without the headers.',
  UNKNOWN_RECORD_TYPE:
    'ce_type names a type of record that this version of ranklog does not know. Send ' +
    'ranklog.score-event.v1, a type of player record, or no ce_type; if the type belongs to ' +
    'a newer ranklog, upgrade first.',
  INVALID_ID:
    'board, playerId or eventId is missing or not a valid id. Use 1 to 128 bytes of UTF-8 ' +
    'without control characters or lone surrogates.',
  INVALID_NUMBER:
    'delta or a value in deltas is not an exact decimal, or deltas does not have 1 to 64 ' +
    'valid names. Send a decimal string such as "12.50", without exponent or spaces.',
  DELTA_OR_DELTAS: 'The event has both delta and deltas, or neither. Send one of them.',
  INVALID_TIME:
    'occurredAt is not an RFC 3339 time with a zone in the years 0001 to 9999. Send a time ' +
    'such as 2026-11-20T09:00:00.123Z. Of a ban, unban or erasure: the header ranklog_time ' +
    'is not a time in milliseconds.',
  INVALID_PLAYER_RECORD:
    'reason or by of a ban, unban or erasure is not a text of 1 to 256 bytes without control ' +
    'characters. Correct it, or leave it out.',
  INVALID_ATTRIBUTES:
    'attributes is not an object of strings and lists of strings. Use names of 1 to 128 bytes ' +
    'and strings of 1 to 256 bytes, and at most 64 strings a list; send numbers as strings, ' +
    'too.',
  UNKNOWN_BOARD:
    'No live board has this name. Add the board to the boards file: its build counts the ' +
    'record, too. Or correct the name.',
  UNKNOWN_COLUMN:
    'deltas has a name that is not an input of the board. Correct the name, or add a column ' +
    'with this input.',
  MISSING_COLUMN:
    'The event lacks a column that keeps the best or the latest value. Send such columns in ' +
    'every event.',
  DELTA_NEEDS_ONE_COLUMN:
    'The board has several inputs, so delta is ambiguous. Send deltas with a value for each input.',
  MISSING_DIMENSION:
    'The event lacks an attribute that the board is ranked by. Send all attributes of its ' +
    'dimensions.',
  TOO_MANY_DECIMALS:
    'A value has more decimals than its column. Round the value before sending, or give the ' +
    'column more decimals.',
  OUT_OF_RANGE:
    'A value is beyond +-(2^53-1) minor units of its column. Send a smaller value, or give the ' +
    'column fewer decimals.',
  OUT_OF_BOUNDS:
    'The event brings less than min or more than max to a column. Correct the event, or ' +
    'widen the bounds of the column.',
  SUM_OUT_OF_RANGE:
    'The sum of a column would exceed +-(2^53-1) minor units, so the event changed no score. ' +
    'Give the column fewer decimals, or start a new board.',
  TOO_FAR_AHEAD:
    'The event is dated later than maxAhead or notAfter of the board allows; or a ban, unban ' +
    "or erasure is dated more than an hour after its record. Correct the producer's clock.",
  WINDOW_EXPIRED:
    'The event is late: all views that it would change have expired. Send events sooner, ' +
    'give the windows a longer keep, or let the board count such events (late: count).',
  WINDOW_CLOSED:
    'The record is late: all windows that the event is in closed before the timestamp of the ' +
    'record. A retry is later still. Send events sooner, give the windows a longer grace, or ' +
    'let the board count such events (late: count).',
  TOO_MANY_VIEWS:
    'The event would create more views than maxViews of the board allows, so it changed ' +
    'nothing. Look for bad values in its attributes, or raise maxViews.',
  TOO_MANY_VIEWS_OF_AN_EVENT:
    'The event would change more than 256 views of the board. Send fewer values in its ' +
    'attributes, or give the board fewer windows and dimensions.',
} as const;

export type DeadLetterCode = keyof typeof DEAD_LETTER_CODES;

/** What to do about a dead letter; empty for a code that this version does not know. */
export function wayOutOf(code: string): string {
  return (DEAD_LETTER_CODES as Readonly<Record<string, string>>)[code] ?? '';
}

/** Why a record can't be a score event or a player record. */
export interface Rejection {
  readonly code: DeadLetterCode;
  readonly detail: string;
}
