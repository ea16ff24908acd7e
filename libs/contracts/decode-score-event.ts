import { parseTime, type ScoreInput } from '#board';
import { cloudEventId, cloudEventProblem } from './cloud-events.js';
import { exactDeltas } from './exact-deltas.js';
import {
  decodeObject,
  parseText,
  reject,
  type ObjectDecoding,
  type Refusal,
} from './json-object.js';
import { hasTooManyHeaders, headerCount, MAX_HEADERS, type RawRecord } from './record.js';
import { decodeRetry } from './retry.js';
import { scoreEventProblem, type Field, type ScoreEvent } from './score-event.js';

/** A score event with numbers as decimal texts and the time in ms since 1970. */
export interface DecodedScoreEvent extends ScoreInput {
  readonly board: string;
}

export type ScoreEventDecoding = { readonly ok: true; readonly event: DecodedScoreEvent } | Refusal;

/**
 * Reads a record of the score topic. Never throws, for any bytes.
 * Cost: linear in the value and the headers.
 */
export function decodeScoreEvent(record: RawRecord): ScoreEventDecoding {
  const count = headerCount(record);
  // Most records have no headers, and looking one up takes time.
  if (count === 0) return decodeEvent(decodeObject(record.value));
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
  const decoded = decodeEvent(decodeObject(record.value), defaults);
  if (retry === undefined || !decoded.ok) return decoded;
  return { ok: true, event: { ...decoded.event, retryOf: retry.retryOf } };
}

/** Fields for an event that lacks them. */
type Defaults = { readonly [F in Field]?: ScoreEvent[F] | undefined };

/** Reads the JSON text of a score event: the value of a record, or a line of a file. */
export function decodeText(text: string, defaults?: Defaults): ScoreEventDecoding {
  return decodeEvent(parseText(text), defaults);
}

function decodeEvent(found: ObjectDecoding, defaults: Defaults = {}): ScoreEventDecoding {
  if (!found.ok) return found;
  const event = fieldsOf(found.object, defaults);
  const problem = scoreEventProblem(event);
  if (problem !== undefined) return { ok: false, ...problem };
  return decodeFields(event as ScoreEvent, found.text);
}

/**
 * The fields of an event. Null counts as absent: many serialisers write it for a missing field. A
 * loop would be slower.
 */
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
