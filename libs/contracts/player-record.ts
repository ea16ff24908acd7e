import { EARLIEST_TIME, formatTime, LATEST_TIME, type RecordPlace } from '#board';
import { absentOr, objectOf } from './checks.js';
import { cloudEventHeaders, cloudEventProblem, PLAYER_RECORD_TYPES } from './cloud-events.js';
import type { Rejection } from './dead-letter-codes.js';
import { decodeScoreEvent, type ScoreEventDecoding } from './decode-score-event.js';
import { decodeObject, reject, type Refusal } from './json-object.js';
import { hasTooManyHeaders, headerText, MAX_HEADERS, type RawRecord } from './record.js';
import { decodeRetry } from './retry.js';
import { ID, REASON, show } from './values.js';

/**
 * Bans a player from a board, undoes a ban, or erases a player. A banned player is in no view, but
 * the board keeps the player's scores, so that an unban restores them. The board keeps no score of
 * an erased player, now or later; only a void of the record undoes an erasure.
 */
export type PlayerRecordKind = 'banned' | 'unbanned' | 'erased';

/**
 * The value of a record of the score topic with the type of a PlayerRecordKind. Unknown fields are
 * ignored.
 */
export interface PlayerRecord {
  board: string;
  /** Also the key of the record. */
  playerId: string;
  reason?: string;
  /** Who has decided it. */
  by?: string;
}

/** A player record, and its time in ms: of two records about a player, the later one counts. */
export interface DecodedPlayerRecord extends Readonly<PlayerRecord> {
  readonly kind: PlayerRecordKind;
  readonly occurredAt: number;
  /** Set if the record is a retry: the records that it repeats, the original first. */
  readonly retryOf?: readonly RecordPlace[];
}

type StampedRecord = RawRecord & { readonly timestamp: number };

/**
 * The header with the time of a player record in ms: a topic with LogAppendTime would stamp a retry
 * anew.
 */
const TIME_HEADER = 'ranklog_time';

/**
 * How much later than its record a player record can be dated: a ban by a clock that is ahead would
 * outlive a later unban.
 */
const MOST_AHEAD_MS = 3_600_000;

const RECORD = objectOf<PlayerRecord>('PlayerRecord', {
  board: ID,
  playerId: ID,
  reason: absentOr(REASON),
  by: absentOr(REASON),
});

/**
 * The record, keyed by player. `time` (ms) must be later than the time of the player's present
 * record on the board, if there is one.
 */
export function encodePlayerRecord(
  kind: PlayerRecordKind,
  { board, playerId, reason, by }: PlayerRecord,
  { id, source, time }: { readonly id: string; readonly source: string; readonly time: number },
) {
  const type = PLAYER_RECORD_TYPES[kind];
  return {
    key: playerId,
    value: JSON.stringify({ board, playerId, reason, by }),
    headers: { ...cloudEventHeaders({ id, type, source }), [TIME_HEADER]: String(time) },
  };
}

/**
 * The header that keeps the time of a player record in its retry; no header for any other record.
 * `timestamp` is the timestamp of the record.
 */
export function keptTime(record: RawRecord, timestamp: number): Readonly<Record<string, string>> {
  if (kindOf(record) === undefined) return {};
  return { [TIME_HEADER]: headerText(record, TIME_HEADER) ?? String(timestamp) };
}

/** What is wrong with the value of a player record: the name of the field and what it must be. */
export function playerRecordProblem(value: unknown): string | undefined {
  return RECORD.problem(value)?.slice(1); // paths begin with a slash
}

type PlayerRecordDecoding =
  { readonly ok: true; readonly playerRecord: DecodedPlayerRecord } | Refusal;

/** Reads a record of the score topic: a score event or a player record. Never throws. */
export function decodeRecord(record: StampedRecord): ScoreEventDecoding | PlayerRecordDecoding {
  const decoded = decodeScoreEvent(record); // first, as most records are events
  return decoded.ok ? decoded : (decodePlayerRecord(record) ?? decoded);
}

/**
 * Reads a record of the score topic; undefined if its `ce_type` is not that of a player record.
 * Never throws.
 */
export function decodePlayerRecord(record: StampedRecord): PlayerRecordDecoding | undefined {
  const kind = kindOf(record);
  if (kind === undefined) return undefined;
  const problem = headersProblem(kind, record);
  if (problem !== undefined) return { ok: false, ...problem };
  const found = decodeObject(record.value);
  if (!found.ok) return found;

  const decoded = decodeValue(kind, withoutNulls(found.object), timeOf(record));
  const retry = decodeRetry(record);
  if (retry === undefined || !decoded.ok) return decoded;
  return { ok: true, playerRecord: { ...decoded.playerRecord, retryOf: retry.retryOf } };
}

function kindOf(record: RawRecord): PlayerRecordKind | undefined {
  const type = headerText(record, 'ce_type');
  const kinds = Object.keys(PLAYER_RECORD_TYPES) as PlayerRecordKind[];
  return kinds.find((kind) => PLAYER_RECORD_TYPES[kind] === type);
}

function headersProblem(kind: PlayerRecordKind, record: StampedRecord) {
  if (hasTooManyHeaders(record)) {
    const detail = `the record has more than ${MAX_HEADERS} headers`;
    return { code: 'TOO_MANY_HEADERS', detail } as const;
  }
  return cloudEventProblem(record, PLAYER_RECORD_TYPES[kind]) ?? timeProblem(record);
}

/** The time of a record; NaN if its header is not a number. */
function timeOf(record: StampedRecord): number {
  const text = headerText(record, TIME_HEADER);
  if (text === undefined) return record.timestamp;
  return /^-?\d{1,15}$/.test(text) ? Number(text) : NaN;
}

function timeProblem(record: StampedRecord): Rejection | undefined {
  const time = timeOf(record);
  const { timestamp } = record;
  if (!(time >= EARLIEST_TIME && time <= LATEST_TIME)) {
    const text = headerText(record, TIME_HEADER);
    const what = text === undefined ? `the timestamp ${timestamp}` : `${TIME_HEADER} ${show(text)}`;
    const detail = `${what} is not a time in ms in the years 0001 to 9999`;
    return { code: 'INVALID_TIME', detail };
  }
  if (time - timestamp <= MOST_AHEAD_MS) return undefined;
  const detail =
    `${TIME_HEADER} is ${formatTime(time)}, ${time - timestamp} ms after the record's ` +
    `timestamp; ${MOST_AHEAD_MS} are allowed`;
  return { code: 'TOO_FAR_AHEAD', detail };
}

/** Null counts as absent, as in a score event. */
function withoutNulls(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
}

function decodeValue(
  kind: PlayerRecordKind,
  value: Record<string, unknown>,
  occurredAt: number,
): PlayerRecordDecoding {
  const problem = playerRecordProblem(value);
  if (problem !== undefined) {
    const field = problem.slice(0, problem.indexOf(' '));
    const isIdField = field === 'board' || field === 'playerId';
    const detail = `${field} is ${show(value[field])}; ${problem}`;
    return reject(isIdField ? 'INVALID_ID' : 'INVALID_PLAYER_RECORD', detail);
  }

  const { board, playerId, reason, by } = value as unknown as PlayerRecord;
  const texts = { ...(reason !== undefined && { reason }), ...(by !== undefined && { by }) };
  return { ok: true, playerRecord: { kind, board, playerId, occurredAt, ...texts } };
}
