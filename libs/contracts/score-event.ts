import { validateSync } from 'class-validator';
import { compileValidator } from './compile-validator.js';
import type { DeadLetterCode, Rejection } from './dead-letter-codes.js';
import { IsAttributes, IsDelta, IsDeltas, IsEventTime, IsId, MayBeAbsent } from './decorators.js';
import {
  isAttributeText,
  isAttributeValue,
  isDelta,
  isId,
  isPlainObject,
  MAX_ATTRIBUTE_VALUES,
  show,
  type AttributeValue,
} from './values.js';

/** The value of a record of the score topic: what one player gained on one board. Unknown fields are ignored. */
export class ScoreEvent {
  @IsId()
  board: string;

  /** Also the key of the record, so that the events of a player stay in order. */
  @IsId()
  playerId: string;

  /** The value for a board with one input: a `sum` adds it, `best` and `latest` may keep it. An event has this or `deltas`. */
  @MayBeAbsent()
  @IsDelta()
  delta?: string | number;

  /** A value for each input. Inputs of `sum` columns can be left out. */
  @MayBeAbsent()
  @IsDeltas()
  deltas?: Record<string, string | number>;

  /** Event time. Default: the timestamp of the record. */
  @MayBeAbsent()
  @IsEventTime()
  occurredAt?: string;

  @MayBeAbsent()
  @IsId()
  eventId?: string;

  /** The dimensions of a board use these. If an attribute has several values, the event changes the views of each. */
  @MayBeAbsent()
  @IsAttributes()
  attributes?: Readonly<Record<string, AttributeValue>>;
}

/** Whether a value has the fields of the class. Compiled, for the hot path. */
export const isScoreEvent = compileValidator(ScoreEvent);

const CODES = {
  board: 'INVALID_ID',
  playerId: 'INVALID_ID',
  delta: 'INVALID_NUMBER',
  deltas: 'INVALID_NUMBER',
  occurredAt: 'INVALID_TIME',
  eventId: 'INVALID_ID',
  attributes: 'INVALID_ATTRIBUTES',
} as const satisfies Record<keyof ScoreEvent, DeadLetterCode>;
type Field = keyof typeof CODES;

/** The fields of a score event, in the order in which they are checked. */
export const SCORE_EVENT_FIELDS = Object.keys(CODES) as Field[];

/** The first invalid field of a value, and what it must be. Slow, for rejected events only. */
export function explainScoreEvent(
  value: Record<string, unknown>,
): { field: Field; message: string } | undefined {
  const event = new ScoreEvent();
  for (const field of SCORE_EVENT_FIELDS)
    if (Object.hasOwn(value, field)) Object.assign(event, { [field]: value[field] });
  const errors = validateSync(event);
  for (const field of SCORE_EVENT_FIELDS) {
    const error = errors.find(({ property }) => property === field);
    if (error !== undefined)
      return { field, message: Object.values(error.constraints ?? {}).join('; ') };
  }
  return undefined;
}

/** Why isScoreEvent rejected an object. Slow. */
export function scoreEventProblem(value: Record<string, unknown>): Rejection {
  const problem = explainScoreEvent(value);
  if (problem === undefined)
    throw new Error('class-validator accepts an event that the compiled validator rejects');
  const { field, message } = problem;
  return { code: CODES[field], detail: `${found(field, value[field])}; ${message}` };
}

function found(field: Field, value: unknown): string {
  if (value === undefined) return `${field} is missing`;
  if (isPlainObject(value)) {
    if (field === 'deltas') return foundInside(field, value, isDelta);
    if (field === 'attributes') return foundInside(field, value, isAttributeValue);
  }
  return `${field} is ${show(value)}`;
}

/** Describes the first invalid entry. If all entries are valid, their number must be wrong: describes the whole value. */
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
  const at = entry.findIndex((value) => !isAttributeText(value));
  return `${place}[${at}] is ${show(entry[at])}`;
}
