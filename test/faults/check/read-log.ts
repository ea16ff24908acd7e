import {
  decodePlayerRecord,
  decodeScoreEvent,
  retriedIds,
  type DecodedScoreEvent,
} from '#contracts';
import type { OracleRecord } from '../../model/oracle-memory.js';
import type { ReadRecord } from '../../support/results.js';
import { recordId } from './facts.js';

/** A record of the score topic; `id` is `topic/partition/offset`. */
interface LogRecord {
  readonly id: string;
  readonly partition: number;
  readonly offset: number;
  /** As its producer has set it, in ms. */
  readonly timestamp: number;
  /**
   * It was written at this time or later, in ms: the latest timestamp in its partition up to it.
   */
  readonly writtenSince: number;
}

/** A score event of a known board. */
export interface EventRecord extends LogRecord {
  readonly board: string;
  readonly event: DecodedScoreEvent;
  /** The events that it retries, the original first; none if it is no retry. */
  readonly retried: readonly EventRecord[];
}

/** A ban, unban or erasure on a known board. */
export interface PlayerRecord extends LogRecord {
  readonly board: string;
  readonly player: OracleRecord;
}

export type BoardRecord = EventRecord | PlayerRecord;

/** A record that is neither a valid event nor a valid player record of a known board. */
interface BadRecord extends LogRecord {
  readonly code: string;
}

/** The limits that docs/reference names; those of the code would hide that they are missing. */
const MAX_HEADERS = 256;
const MAX_RANKLOG_HEADERS = 64;

function hasTooManyHeaders({ headers }: ReadRecord): boolean {
  const count = (isRanklog: boolean) =>
    Object.entries(headers)
      .filter(([name]) => name.startsWith('ranklog_') === isRanklog)
      .flatMap(([, values]) => values).length;
  const ofRanklog = Math.min(count(true), MAX_RANKLOG_HEADERS);
  return count(true) + count(false) - ofRanklog > MAX_HEADERS;
}

/**
 * Sorts the log by partition and offset, and separates the records of known boards from the bad
 * ones.
 */
export function readLog(
  topic: string,
  boards: ReadonlySet<string>,
  log: readonly ReadRecord[],
): { records: BoardRecord[]; bad: BadRecord[] } {
  const records: BoardRecord[] = [];
  const bad: BadRecord[] = [];
  const byId = new Map<string, EventRecord>();
  const latest = new Map<number, number>();
  for (const record of log.toSorted((a, b) => a.partition - b.partition || a.offset - b.offset)) {
    const { partition, offset, timestamp } = record;
    const id = recordId(topic, record);
    const writtenSince = Math.max(timestamp, latest.get(partition) ?? 0);
    latest.set(partition, writtenSince);
    const place = { id, partition, offset, timestamp, writtenSince };
    const decoded = decode(record);
    if (hasTooManyHeaders(record)) bad.push({ ...place, code: 'TOO_MANY_HEADERS' });
    else if ('code' in decoded) bad.push({ ...place, code: decoded.code });
    else if (!boards.has(decoded.board)) bad.push({ ...place, code: 'UNKNOWN_BOARD' });
    else if ('player' in decoded) records.push({ ...place, ...decoded });
    else {
      const retried = retriedIds(record).flatMap((one) => byId.get(one) ?? []);
      const event = { ...place, ...decoded, retried };
      byId.set(id, event);
      records.push(event);
    }
  }
  return { records, bad };
}

type Decoded =
  | Pick<EventRecord, 'board' | 'event'>
  | Pick<PlayerRecord, 'board' | 'player'>
  | { readonly code: string };

function decode(record: ReadRecord): Decoded {
  const { partition, offset } = record;
  const found = decodePlayerRecord(record);
  if (found?.ok === true) {
    const { board, kind, playerId, occurredAt: time } = found.playerRecord;
    return { board, player: { kind, playerId, time, partition, offset } };
  }
  if (found !== undefined) return { code: found.code };
  const decoded = decodeScoreEvent(record);
  return decoded.ok ? { board: decoded.event.board, event: decoded.event } : { code: decoded.code };
}
