import type { ScoreEvent } from './classes/score-event.js';
import type { DeadLetterCode, Rejection } from './dead-letter-codes.js';
import { RULES, type RuleName } from './rules.js';
import * as compiled from './validators.generated.js';
import {
  isAttributeText,
  isAttributeValue,
  isDelta,
  isId,
  isPlainObject,
  MAX_ATTRIBUTE_VALUES,
  show,
} from './values.js';

export type { ScoreEvent };

/** Whether a value has the fields of the class. */
export const isScoreEvent = compiled.isScoreEvent as (value: unknown) => value is ScoreEvent;

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

const { properties, required } = compiled.SCORE_EVENT as {
  readonly properties: Readonly<Record<Field, { readonly ranklogRule: RuleName }>>;
  readonly required: readonly string[];
};

/** The first invalid field of a value, and what it must be. */
export function explainScoreEvent(
  value: Record<string, unknown>,
): { field: Field; message: string } | undefined {
  for (const field of SCORE_EVENT_FIELDS) {
    const rule = RULES[properties[field].ranklogRule];
    const found = Object.hasOwn(value, field) ? value[field] : undefined;
    if (found === undefined ? required.includes(field) : !rule.holds(found))
      return { field, message: `${field} must be ${rule.allows}` };
  }
  return undefined;
}

/** Why isScoreEvent rejected an object. */
export function scoreEventProblem(value: Record<string, unknown>): Rejection {
  const problem = explainScoreEvent(value);
  if (problem === undefined)
    throw new Error('the compiled validator rejects an event with valid fields');
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
