import { nearNames, resolveEvent } from '#board';
import type { ApplyEntry, Boards, LiveBoard } from '#board-store';
import {
  cutDetail,
  decodeScoreEvent,
  type DeadLetterReason,
  type DecodedScoreEvent,
} from '#contracts';
import type { KafkaRecord } from '#kafka-batch';

/** A record that is skipped and produces no result. */
export interface NoEntry {
  readonly kind: 'none';
  readonly offset: number;
}

/** A record of the score topic: what it says (undefined when it can't be read) and what to apply. */
export interface ReadRecord {
  readonly record: KafkaRecord;
  readonly event: DecodedScoreEvent | undefined;
  readonly entry: ApplyEntry | NoEntry;
}

/**
 * Decodes a record of a partition and resolves it against the live boards. Never throws for any bytes: what can't be applied
 * is a dead letter. The events of a board that is being built count in its build.
 */
export function readRecord(record: KafkaRecord, partition: number, boards: Boards): ReadRecord {
  const { offset } = record;
  const decoded = decodeScoreEvent(record);
  if (!decoded.ok) return { record, event: undefined, entry: deadLetter(offset, decoded) };
  const { event } = decoded;
  const live = boards.live.get(event.board);
  const isLeftOut =
    live === undefined
      ? boards.building.has(event.board)
      : record.offset < (live.starts?.get(partition) ?? 0);
  if (isLeftOut) return { record, event, entry: { kind: 'none', offset } };
  return { record, event, entry: toEntry(record, event, boards.live) };
}

function toEntry(
  { offset, timestamp }: KafkaRecord,
  event: DecodedScoreEvent,
  boards: ReadonlyMap<string, LiveBoard>,
): ApplyEntry {
  const { board } = event;
  const live = boards.get(board);
  if (live === undefined) {
    const detail = unknownDetail(board, boards);
    return deadLetter(offset, { code: 'UNKNOWN_BOARD', detail });
  }
  const resolved = resolveEvent(live.definition, event, timestamp);
  return resolved.ok
    ? { kind: 'event', offset, board, event: resolved.event }
    : deadLetter(offset, resolved.rejection);
}

/** Cuts the detail: Redis and Kafka keep a copy of it for each record. */
function deadLetter(offset: number, { code, detail }: DeadLetterReason): ApplyEntry {
  return { kind: 'deadLetter', offset, code, detail: cutDetail(detail) };
}

const MOST_SUGGESTED = 5;
/** How many unknown names get suggestions, which compares each of them with all live boards. */
const MOST_COMPARED = 100;

/** Details by live boards and unknown name. */
const unknownDetails = new WeakMap<object, Map<string, string>>();

function unknownDetail(board: string, boards: ReadonlyMap<string, LiveBoard>): string {
  const details = unknownDetails.get(boards) ?? new Map<string, string>();
  unknownDetails.set(boards, details);
  const known = details.get(board);
  if (known !== undefined) return known;
  const detail = `there is no board ${JSON.stringify(board)}`;
  if (details.size >= MOST_COMPARED) return detail;
  const near = nearNames(board, boards.keys(), MOST_SUGGESTED);
  const full = near.length === 0 ? detail : `${detail}; did you mean ${near.join(', ')}?`;
  details.set(board, full);
  return full;
}
