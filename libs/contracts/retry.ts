import {
  EARLIEST_TIME,
  formatTime,
  LATEST_TIME,
  resolveEvent,
  type BoardDefinition,
  type RecordPlace,
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

/**
 * Headers of a retry. They have a value for each record before it, the original first: its id, and
 * its timestamp.
 */
const IDS = 'ranklog_retry_of';
const TIMES = 'ranklog_retry_timestamp';

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
  const value = headers[name];
  if (value === undefined) return [];
  if (Array.isArray(value)) return (value as readonly (Buffer | string)[]).map(String);
  return [String(value)];
}

/**
 * The records that a retry repeats, the original first, and the time of the original, for an event
 * without occurredAt. Returns undefined if the record is no retry, or its retry headers are
 * malformed.
 */
export function decodeRetry(record: HeadedRecord) {
  if (!isRetry(record)) return undefined;
  const times = texts(record.headers, TIMES);
  const ids = retriedIds(record);
  const retryOf = ids.flatMap((id, index) => retriedRecord(id, times[index]) ?? []);
  const [first] = times;
  if (first === undefined || retryOf.length !== ids.length || times.length !== ids.length)
    return undefined;
  return { retryOf, occurredAt: eventTime(first) };
}

function retriedRecord(id: string, time: string | undefined): RecordPlace | undefined {
  const place = /\/(\d{1,15})\/(\d{1,15})$/.exec(id);
  if (place === null || time === undefined || !INT64.test(time)) return undefined;
  return { partition: Number(place[1]), offset: Number(place[2]), timestamp: Number(time) };
}

/**
 * Kafka accepts any 64-bit integer as a timestamp. A number rounds timestamps beyond 2^53, and
 * its text reads back as the same number, so the original and its retry have equal timestamps.
 */
const INT64 = /^-?\d{1,19}$/;

/** A timestamp that is not an event time stays as it is: ranklog then refuses the event again. */
function eventTime(timestamp: string): string {
  const time = Number(timestamp);
  return time >= EARLIEST_TIME && time <= LATEST_TIME ? formatTime(time) : timestamp;
}

/**
 * Whether an event retries a record that the generation counts already. The retry is then skipped:
 * otherwise, a board that is built again with a definition that accepts both would count both.
 *
 * In a chain of retries, the first record that the definition accepts counts, and all records after
 * it are repeats. So this checks every record of the chain, not only the last one: at a later
 * timestamp, a definition accepts more (maxAhead) or less (a window that has closed).
 */
export function isRepeat(
  event: ScoreInput,
  generation: { definition: BoardDefinition; starts?: ReadonlyMap<number, number> | undefined },
): boolean {
  const { retryOf } = event;
  if (retryOf === undefined) return false;
  const { definition, starts } = generation;
  return retryOf.some(
    ({ partition, offset, timestamp }) =>
      offset >= (starts?.get(partition) ?? 0) && resolveEvent(definition, event, timestamp).ok,
  );
}
