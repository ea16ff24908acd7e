import { isUtf8 } from 'node:buffer';
import { parseTime, type ScoreInput } from '#board';
import { isPlainObject } from './checks.js';
import { cloudEventId, cloudEventProblem } from './cloud-events.js';
import type { DeadLetterCode, Rejection } from './dead-letter-codes.js';
import { exactDeltas } from './exact-deltas.js';
import type { RawRecord } from './record.js';
import { decodeRetry, type RetriedRecord } from './retry.js';
import { SCORE_EVENT_FIELDS, scoreEventProblem, type ScoreEvent } from './score-event.js';
import { quote, show } from './values.js';

/** A score event with numbers as decimal texts and the time in ms since 1970. */
export interface DecodedScoreEvent extends ScoreInput {
  readonly board: string;
  /** Set if the record is a retry: see isRepeat. */
  readonly retryOf?: RetriedRecord;
}

export type ScoreEventDecoding =
  { readonly ok: true; readonly event: DecodedScoreEvent } | ({ readonly ok: false } & Rejection);

/** Reads a record of the score topic. Never throws, for any bytes. Cost: linear in the value. */
export function decodeScoreEvent({ value, headers }: RawRecord): ScoreEventDecoding {
  const problem = cloudEventProblem(headers);
  if (problem !== undefined) return { ok: false, ...problem };
  if (value === null || value.length === 0)
    return reject('EMPTY_VALUE', value === null ? 'the value is null' : 'the value is empty');
  if (!isUtf8(value)) return reject('NOT_UTF8', 'the value is not valid UTF-8');
  const retry = decodeRetry(headers);
  const defaults = { eventId: cloudEventId(headers), occurredAt: retry?.occurredAt };
  const decoded = decodeText(value.toString('utf8'), defaults);
  if (retry === undefined || !decoded.ok) return decoded;
  return { ok: true, event: { ...decoded.event, retryOf: retry.retryOf } };
}

/** Fields for an event that lacks them. */
type Defaults = { readonly [F in keyof ScoreEvent]?: ScoreEvent[F] | undefined };

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
  // Many serialisers write null for an absent optional field.
  for (const field of SCORE_EVENT_FIELDS) if (value[field] === null) value[field] = undefined;
  for (const name in defaults) value[name] ??= defaults[name as keyof ScoreEvent];
  const problem = scoreEventProblem(value);
  if (problem !== undefined) return { ok: false, ...problem };
  return decodeFields(value as unknown as ScoreEvent, text);
}

/** Levels of objects and arrays, including the event itself. */
const MAX_LEVELS = 100;

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
