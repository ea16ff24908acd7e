// To add a field: add it to the type, and its check and code to CHECKS. Then extend `fieldsOf` and
// `decodeFields` in decode-score-event.ts, libs/board/resolve-event.ts (where it takes effect),
// dto/score-event-dto.ts, test/contracts/golden/score-event.json and docs/reference/events.md, and
// run `npm run api-docs`.

import { absentOr, isPlainObject, objectOf, type Check } from './checks.js';
import type { DeadLetterCode, Rejection } from './dead-letter-codes.js';
import {
  ATTRIBUTES,
  DELTA,
  DELTAS,
  ID,
  isAttributeText,
  isAttributeValue,
  isDelta,
  isId,
  MAX_ATTRIBUTE_VALUES,
  show,
  TIME,
  type AttributeValue,
} from './values.js';

/**
 * The value of a record of the score topic: what one player gained on one board. Unknown fields are
 * ignored.
 */
export interface ScoreEvent {
  board: string;
  /** Also the key of the record, so that the events of a player stay in order. */
  playerId: string;
  /**
   * The value for a board with one input: a `sum` adds it, `best` and `latest` may keep it. An
   * event has this or `deltas`.
   */
  delta?: string | number;
  /** A value for each input. Inputs of `sum` columns can be left out. */
  deltas?: Record<string, string | number>;
  /** Event time. Default: the timestamp of the record. */
  occurredAt?: string;
  /** A board that drops duplicates knows them by this. */
  eventId?: string;
  /**
   * The dimensions of a board use these. If an attribute has several values, the event changes the
   * views of each.
   */
  attributes?: Readonly<Record<string, AttributeValue>>;
}
export type Field = keyof ScoreEvent;

/** The check of each field, in this order, and the code of an event that fails it. */
const CHECKS: Readonly<Record<Field, Check & { readonly code: DeadLetterCode }>> = {
  board: { ...ID, code: 'INVALID_ID' },
  playerId: { ...ID, code: 'INVALID_ID' },
  delta: { ...absentOr(DELTA), code: 'INVALID_NUMBER' },
  deltas: { ...absentOr(DELTAS), code: 'INVALID_NUMBER' },
  occurredAt: { ...absentOr(TIME), code: 'INVALID_TIME' },
  eventId: { ...absentOr(ID), code: 'INVALID_ID' },
  attributes: { ...absentOr(ATTRIBUTES), code: 'INVALID_ATTRIBUTES' },
};
// Called only to add the schema: scoreEventProblem checks each field, because each has a code.
objectOf<ScoreEvent>('ScoreEvent', CHECKS);

const FIELD_CHECKS = Object.entries(CHECKS) as [Field, (typeof CHECKS)[Field]][];

/** The first invalid field of a value; undefined for a ScoreEvent. */
export function scoreEventProblem(value: Record<string, unknown>): Rejection | undefined {
  for (const [field, { problem, code }] of FIELD_CHECKS) {
    const reason = problem(value[field]);
    if (reason !== undefined)
      return { code, detail: `${found(field, value[field])}; ${field}${reason}` };
  }
  return undefined;
}

function found(field: Field, value: unknown): string {
  if (value === undefined) return `${field} is missing`;
  if (isPlainObject(value)) {
    if (field === 'deltas') return foundInside(field, value, isDelta);
    if (field === 'attributes') return foundInside(field, value, isAttributeValue);
  }
  return `${field} is ${show(value)}`;
}

/**
 * Describes the first invalid entry. If all entries are valid, their number must be wrong:
 * describes the whole value.
 */
function foundInside(
  field: Field,
  value: Record<string, unknown>,
  holds: (entry: unknown) => boolean,
): string {
  for (const [name, entry] of Object.entries(value)) {
    if (!isId(name)) return `${field} has the name ${show(name)}`;
    if (!holds(entry)) return foundEntry(`${field}.${name}`, entry);
  }
  return `${field} is ${show(value)} (${Object.keys(value).length} names)`;
}

/** Describes the first invalid value of a list, or the list itself if it is too long. */
function foundEntry(place: string, entry: unknown): string {
  if (!Array.isArray(entry) || entry.length > MAX_ATTRIBUTE_VALUES)
    return `${place} is ${show(entry)}`;
  const index = entry.findIndex((value) => !isAttributeText(value));
  return `${place}[${index}] is ${show(entry[index])}`;
}
