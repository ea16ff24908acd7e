/**
 * Every reason for which a record becomes a dead letter: what is wrong, and what to do.
 * docs/reference/dead-letters.md is this list (test: libs/contracts/dead-letter-codes.spec.ts).
 */
export const DEAD_LETTER_CODES = {
  EMPTY_VALUE:
    'The record has no value (null or empty). Do not send tombstones to the score topic.',
  NOT_UTF8: 'The value is not UTF-8. Send JSON in UTF-8.',
  NOT_JSON: 'The value is not JSON. Send one JSON object a record.',
  NESTED_TOO_DEEPLY:
    'The value has more than 100 levels of objects and arrays inside each other. Send less with the event.',
  NOT_AN_OBJECT: 'The value is JSON, but not an object. Send one score event a record.',
  UNSUPPORTED_CLOUDEVENT:
    'The CloudEvents headers name another version, mode or content than ranklog takes. Use binary mode, version 1.0, JSON; or send plain JSON without the headers.',
  UNKNOWN_RECORD_TYPE:
    'ce_type names a kind of record that this version of ranklog does not know. Send ranklog.score-event.v1, or no ce_type; for a type of a newer ranklog, upgrade the service first.',
  INVALID_ID:
    'board, playerId or eventId is missing or no id. Use 1 to 128 bytes of UTF-8 without control characters or lone surrogates.',
  INVALID_NUMBER:
    'delta or a value in deltas is no exact decimal. Send a decimal string such as "12.50", without exponent or spaces.',
  DELTA_OR_DELTAS: 'The event has both delta and deltas, or neither. Send one of them.',
  INVALID_TIME:
    'occurredAt is no RFC 3339 time with a zone in the years 0001 to 9999. Send one such as 2026-11-20T09:00:00.123Z.',
  INVALID_ATTRIBUTES:
    'attributes is no object of strings and lists of strings. Send names as ids, values as strings of 1 to 256 bytes, numbers too, and up to 64 of them in a list.',
  UNKNOWN_BOARD: 'No live board has this name. Add it to the boards file, or repair the name.',
  UNKNOWN_COLUMN:
    'deltas has a name that no column of the board takes. Repair the name, or add a column that takes it.',
  MISSING_COLUMN:
    'A column that keeps the best or the latest value is not in the event. Send it in every event.',
  DELTA_NEEDS_ONE_COLUMN:
    'delta is for boards with one input. Send deltas with a value for each input.',
  MISSING_DIMENSION:
    'The event lacks an attribute that the board is ranked by. Send all attributes of its dimensions.',
  TOO_MANY_DECIMALS:
    'A value has more decimals than its column. Round it before sending, or give the column more decimals.',
  OUT_OF_RANGE:
    'A value is beyond +-(2^53-1) minor units of its column. Send a smaller one, or give the column fewer decimals.',
  OUT_OF_BOUNDS:
    'The event brings a column less than its min or more than its max. Repair the event, or widen the bounds of the column.',
  SUM_OUT_OF_RANGE:
    'The sum of a column would leave +-(2^53-1) minor units, so the event changed nothing. Give the column fewer decimals, or start a new board.',
  TOO_FAR_AHEAD:
    "The event is dated further ahead than maxAhead or notAfter of the board allow. Set the producer's clock right.",
  WINDOW_EXPIRED:
    'The event came late: all views that it would move have expired. Send events sooner, give the windows a longer keep, or let the board count such events (late: count).',
  TOO_MANY_VIEWS:
    'The event would make more views than maxViews of the board, so it changed nothing. Look for bad values in its attributes, or raise maxViews.',
  TOO_MANY_VIEWS_OF_AN_EVENT:
    'The event would move more than 256 views of the board. Send fewer values in its attributes, or give the board fewer windows and dimensions.',
} as const;

export type DeadLetterCode = keyof typeof DEAD_LETTER_CODES;
