import { isUtf8 } from 'node:buffer';
import { parseTime } from '#board';
import { cloudEventId, cloudEventProblem } from './cloud-events.js';
import type { DeadLetterCode } from './dead-letter-codes.js';
import { exactDeltas, type ExactDeltas } from './exact-deltas.js';
import { isPlainObject, type AttributeValue } from './ids.js';
import { MOST_LEVELS, nestsTooDeeply } from './nesting.js';
import type { RawRecord } from './record.js';
import { isScoreEvent, SCORE_EVENT_FIELDS, type ScoreEvent } from './score-event.js';
import { scoreEventProblem } from './score-event-problem.js';
import { quote, show } from './show.js';

/** A score event whose numbers are decimal texts and whose time is in ms since 1970. */
export interface DecodedScoreEvent extends ExactDeltas {
  readonly board: string;
  readonly playerId: string;
  readonly occurredAt?: number;
  readonly eventId?: string;
  readonly attributes: Readonly<Record<string, AttributeValue>>;
}

export type ScoreEventDecoding =
  | { readonly ok: true; readonly event: DecodedScoreEvent }
  | { readonly ok: false; readonly code: DeadLetterCode; readonly detail: string };

/** Reads a record of the score topic. Never throws, whatever the bytes. Cost: linear in the value. */
export function decodeScoreEvent({ value, headers }: RawRecord): ScoreEventDecoding {
  const problem = cloudEventProblem(headers);
  if (problem !== undefined) return { ok: false, ...problem };
  if (value === null || value.length === 0)
    return reject('EMPTY_VALUE', value === null ? 'the value is null' : 'the value is empty');
  if (!isUtf8(value)) return reject('NOT_UTF8', 'the value is not valid UTF-8');
  return decodeText(value.toString('utf8'), cloudEventId(headers));
}

/** Reads the JSON text of a score event, as a line of a file or the value of a record has it. */
export function decodeText(text: string, cloudEventId?: string): ScoreEventDecoding {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return reject('NOT_JSON', `the value is not JSON: ${quote(String(error))}`);
  }
  if (!isPlainObject(value))
    return reject('NOT_AN_OBJECT', `the value is ${show(value)}, not an object`);
  if (nestsTooDeeply(value))
    return reject('NESTED_TOO_DEEPLY', `the value has more than ${MOST_LEVELS} levels of nesting`);
  dropNulls(value);
  if (value['eventId'] === undefined && cloudEventId !== undefined) value['eventId'] = cloudEventId;
  return isScoreEvent(value)
    ? decodeFields(value, text)
    : { ok: false, ...scoreEventProblem(value) };
}

function decodeFields(event: ScoreEvent, text: string): ScoreEventDecoding {
  if ((event.delta === undefined) === (event.deltas === undefined))
    return reject(
      'DELTA_OR_DELTAS',
      event.delta === undefined
        ? 'the event has neither delta nor deltas; send one of them'
        : 'the event has both delta and deltas; send one of them',
    );
  const numbers = exactDeltas(event, text);
  if (!numbers.ok) return reject('INVALID_NUMBER', numbers.detail);
  const occurredAt = event.occurredAt === undefined ? undefined : parseTime(event.occurredAt);
  return {
    ok: true,
    event: {
      board: event.board,
      playerId: event.playerId,
      ...numbers.deltas,
      ...(occurredAt === undefined ? {} : { occurredAt }),
      ...(event.eventId === undefined ? {} : { eventId: event.eventId }),
      attributes: event.attributes ?? {},
    },
  };
}

/** Serialisers write null for what is not there; so an optional field that is null is taken as absent. */
function dropNulls(value: Record<string, unknown>): void {
  for (const field of SCORE_EVENT_FIELDS) if (value[field] === null) value[field] = undefined;
}

function reject(code: DeadLetterCode, detail: string): ScoreEventDecoding {
  return { ok: false, code, detail };
}
