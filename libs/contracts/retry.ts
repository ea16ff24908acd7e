import {
  EARLIEST_TIME,
  formatTime,
  LATEST_TIME,
  resolveEvent,
  type BoardDefinition,
  type ScoreInput,
} from '#board';
import {
  causeId,
  headerText,
  type HeadedRecord,
  type RecordHeaders,
  type Source,
} from './record.js';

/** The place of a record, and its timestamp in ms. */
export type TimedSource = Source & { readonly timestamp: number };
export type RetriedRecord = Omit<TimedSource, 'topic'>;

/** Headers of a retry. They have a value for each record before it, the original first: its id, and its timestamp. */
const [IDS, TIMES] = ['ranklog_retry_of', 'ranklog_retry_timestamp'] as const;

export function retryHeaders(headers: RecordHeaders, source: TimedSource) {
  return {
    [IDS]: [...texts(headers, IDS), causeId(source)],
    [TIMES]: [...texts(headers, TIMES), String(source.timestamp)],
  };
}

/** The ids of the records before a retry, the original first; none if the record is no retry. */
export function retriedIds(record: HeadedRecord): string[] {
  return isRetry(record) ? texts(record.headers, IDS) : [];
}

function isRetry(record: HeadedRecord): boolean {
  return headerText(record, IDS) !== undefined;
}

function texts(headers: RecordHeaders, name: string): string[] {
  return [headers[name] ?? []].flat().map(String);
}

/** The last record that a retry repeats, and the time of the original, for an event without occurredAt. undefined for no retry. */
export function decodeRetry(record: HeadedRecord) {
  if (!isRetry(record)) return undefined;
  const times = texts(record.headers, TIMES);
  const id = /\/(\d{1,15})\/(\d{1,15})$/.exec(retriedIds(record).at(-1) ?? '');
  const first = times[0];
  if (id === null || first === undefined || !times.every((time) => INT64.test(time)))
    return undefined;
  const [partition, offset, timestamp] = [Number(id[1]), Number(id[2]), Number(times.at(-1))];
  return { retryOf: { partition, offset, timestamp }, occurredAt: eventTime(first) };
}

/**
 * Kafka accepts any 64-bit integer as a timestamp. A number rounds those beyond 2^53, and its text reads back as the same
 * number: the board judges the original and its retry by equal timestamps.
 */
const INT64 = /^-?\d{1,19}$/;

/** A timestamp that is no event time stays as it is: the event is then refused, like its original. */
function eventTime(timestamp: string): string {
  const time = Number(timestamp);
  return time >= EARLIEST_TIME && time <= LATEST_TIME ? formatTime(time) : timestamp;
}

/**
 * Whether an event retries a record that the generation counts already, as its definition accepts that record. The retry is then
 * skipped: otherwise, a board that is built again with a definition that accepts both would count both.
 */
export function isRepeat(
  event: ScoreInput & { readonly retryOf?: RetriedRecord },
  generation: { definition: BoardDefinition; starts?: ReadonlyMap<number, number> | undefined },
): boolean {
  const { retryOf } = event;
  if (retryOf === undefined) return false;
  const { definition, starts } = generation;
  if (retryOf.offset < (starts?.get(retryOf.partition) ?? 0)) return false;
  return resolveEvent(definition, event, retryOf.timestamp).ok;
}
