import type { DeadLetterCode } from './dead-letter-codes.js';
import {
  isAttributeText,
  isAttributeValue,
  isId,
  isPlainObject,
  MOST_ATTRIBUTE_VALUES,
} from './ids.js';
import { isDelta } from './numbers.js';
import { explainScoreEvent, SCORE_EVENT_FIELDS } from './score-event.js';
import { show } from './show.js';

type Field = (typeof SCORE_EVENT_FIELDS)[number];

const CODES = {
  board: 'INVALID_ID',
  playerId: 'INVALID_ID',
  eventId: 'INVALID_ID',
  delta: 'INVALID_NUMBER',
  deltas: 'INVALID_NUMBER',
  occurredAt: 'INVALID_TIME',
  attributes: 'INVALID_ATTRIBUTES',
} as const satisfies Record<Field, DeadLetterCode>;

/** What is wrong with the first field of an object that the compiled validator refused. For rejects only: slow. */
export function scoreEventProblem(value: Record<string, unknown>): {
  code: DeadLetterCode;
  detail: string;
} {
  const problem = explainScoreEvent(value);
  if (problem === undefined)
    throw new Error('the compiled validator refused what class-validator takes');
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

/** Names the first entry that breaks a rule; where each is fine, it is their number. */
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

/** Of a list that is not too long, names the first value that breaks a rule. */
function foundEntry(place: string, entry: unknown): string {
  if (Array.isArray(entry) && entry.length <= MOST_ATTRIBUTE_VALUES) {
    const at = entry.findIndex((value) => !isAttributeText(value));
    return `${place}[${at}] is ${show(entry[at])}`;
  }
  return `${place} is ${show(entry)}`;
}
