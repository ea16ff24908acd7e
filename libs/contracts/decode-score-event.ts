import { isUtf8 } from 'node:buffer';
import { parseTime, type ScoreInput } from '#board';
import { isPlainObject } from './checks.js';
import { cloudEventId, cloudEventProblem } from './cloud-events.js';
import type { DeadLetterCode, Rejection } from './dead-letter-codes.js';
import { exactDeltas } from './exact-deltas.js';
import { hasTooManyHeaders, headerCount, MAX_HEADERS, type RawRecord } from './record.js';
import { decodeRetry } from './retry.js';
import { scoreEventProblem, type Field, type ScoreEvent } from './score-event.js';
import { quote, show } from './values.js';

/** A score event with numbers as decimal texts and the time in ms since 1970. */
export interface DecodedScoreEvent extends ScoreInput {
  readonly board: string;
}

export type ScoreEventDecoding =
  { readonly ok: true; readonly event: DecodedScoreEvent } | ({ readonly ok: false } & Rejection);

/** Reads a record of the score topic. Never throws, for any bytes. Cost: linear in the value and the headers. */
export function decodeScoreEvent(record: RawRecord): ScoreEventDecoding {
  const count = headerCount(record);
  if (count === 0) return decodeValue(record.value); // each look-up of a header takes time
  if (hasTooManyHeaders(record))
    return reject(
      'TOO_MANY_HEADERS',
      `the record has ${count} headers, more than ${MAX_HEADERS}; its dead letter has none of them`,
    );
  return decodeWithHeaders(record);
}

function decodeWithHeaders(record: RawRecord): ScoreEventDecoding {
  const problem = cloudEventProblem(record);
  if (problem !== undefined) return { ok: false, ...problem };
  const retry = decodeRetry(record);
  const defaults = { eventId: cloudEventId(record), occurredAt: retry?.occurredAt };
  const decoded = decodeValue(record.value, defaults);
  if (retry === undefined || !decoded.ok) return decoded;
  return { ok: true, event: { ...decoded.event, retryOf: retry.retryOf } };
}

function decodeValue(value: Buffer | null, defaults?: Defaults): ScoreEventDecoding {
  if (value === null || value.length === 0)
    return reject('EMPTY_VALUE', value === null ? 'the value is null' : 'the value is empty');
  if (!isUtf8(value)) return reject('NOT_UTF8', 'the value is not valid UTF-8');
  return decodeText(value.toString('utf8'), defaults);
}

/** Fields for an event that lacks them. */
type Defaults = { readonly [F in Field]?: ScoreEvent[F] | undefined };

/** Reads the JSON text of a score event: the value of a record, or a line of a file. */
export function decodeText(text: string, defaults: Defaults = {}): ScoreEventDecoding {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return reject('NOT_JSON', `the value is not JSON: ${quote(String(error))}`);
  }
  if (!isPlainObject(value))
    return reject('NOT_AN_OBJECT', `the value is ${show(value)}, not an object`);
  if (nestsTooDeeply(value, MAX_LEVELS))
    return reject('NESTED_TOO_DEEPLY', `the value has more than ${MAX_LEVELS} levels of nesting`);
  const event = fieldsOf(value, defaults);
  const problem = scoreEventProblem(event);
  if (problem !== undefined) return { ok: false, ...problem };
  return decodeFields(event as ScoreEvent, text);
}

/** The fields of an event. Null counts as absent: many serialisers write it for a missing field. A loop would be slower. */
function fieldsOf(value: Partial<Record<Field, unknown>>, defaults: Defaults) {
  return {
    board: value.board ?? defaults.board,
    playerId: value.playerId ?? defaults.playerId,
    delta: value.delta ?? defaults.delta,
    deltas: value.deltas ?? defaults.deltas,
    occurredAt: value.occurredAt ?? defaults.occurredAt,
    eventId: value.eventId ?? defaults.eventId,
    attributes: value.attributes ?? defaults.attributes,
  } satisfies Record<Field, unknown>;
}

/** Levels of objects and arrays, including the event itself. */
export const MAX_LEVELS = 100;

/** The limit is fixed, so that the verdict never depends on how much stack the process has left. */
export function nestsTooDeeply(value: object, levelsLeft: number): boolean {
  if (levelsLeft === 0) return true;
  const children = value as Record<string, unknown>; // also those of an array
  for (const name in children) {
    const child = children[name];
    if (typeof child !== 'object' || child === null) continue;
    if (nestsTooDeeply(child, levelsLeft - 1)) return true;
  }
  return false;
}

function decodeFields(event: ScoreEvent, text: string): ScoreEventDecoding {
  if ((event.delta === undefined) === (event.deltas === undefined)) {
    const found = event.delta === undefined ? 'neither delta nor deltas' : 'both delta and deltas';
    return reject('DELTA_OR_DELTAS', `the event has ${found}; send one of them`);
  }
  const numbers = exactDeltas(event, text);
  if (typeof numbers === 'string') return reject('INVALID_NUMBER', numbers);
  const { board, playerId, eventId, attributes = {} } = event;
  const occurredAt = event.occurredAt === undefined ? undefined : parseTime(event.occurredAt);
  const decoded: Mutable<DecodedScoreEvent> = { board, playerId, ...numbers, attributes };
  if (occurredAt !== undefined) decoded.occurredAt = occurredAt;
  if (eventId !== undefined) decoded.eventId = eventId;
  return { ok: true, event: decoded };
}

type Mutable<T> = { -readonly [F in keyof T]: T[F] };

function reject(code: DeadLetterCode, detail: string): ScoreEventDecoding {
  return { ok: false, code, detail };
}
