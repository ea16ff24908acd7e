import { isVoided, nearNames, resolveRecord } from '#board';
import { banText, type ApplyEntry, type Boards, type LiveBoard, type Verdict } from '#board-store';
import {
  cutDetail,
  decodeRecord,
  isRepeat,
  type DeadLetterReason,
  type DecodedPlayerRecord,
  type DecodedScoreEvent,
} from '#contracts';
import type { KafkaRecord } from '#kafka-batch';

/**
 * A record of the score topic, its event or player record (undefined if it can't be decoded), and
 * the entry to apply.
 */
export interface ReadRecord {
  readonly record: KafkaRecord;
  readonly event: DecodedScoreEvent | ReadPlayerRecord | undefined;
  readonly entry: ApplyEntry | Skipped;
}

/** A verdict, and the record that it is about. */
export interface RecordVerdict {
  readonly verdict: Verdict;
  readonly read: ReadRecord;
}

/** A player record has no event id, so it is never a duplicate. */
interface ReadPlayerRecord extends DecodedPlayerRecord {
  readonly eventId?: undefined;
}

/** The record produces no result. */
interface Skipped {
  readonly kind: 'none';
  readonly offset: number;
  /** The detail, if all windows of the event have closed and the board only counts such events. */
  readonly late?: string;
}

/**
 * Decodes a record of a partition and resolves it against the live boards. Never throws: a record
 * that can't be applied becomes a dead letter. Skips events of a board that is being built (the
 * build applies them), events from before the board begins, and retries of records that the board
 * counts already (`isRepeat`).
 */
export function readRecord(record: KafkaRecord, partition: number, boards: Boards): ReadRecord {
  const { offset } = record;
  const decoded = decodeRecord(record);
  if (!decoded.ok) return { record, event: undefined, entry: deadLetter(offset, decoded) };
  if ('playerRecord' in decoded)
    return readPlayerRecord(record, decoded.playerRecord, partition, boards);

  const { event } = decoded;
  const { board } = event;
  const live = boards.live.get(board);
  if (live === undefined) return { record, event, entry: notLive(offset, board, boards) };

  const firstOffset = live.starts?.get(partition) ?? 0;
  if (offset < firstOffset || isRepeat(event, live))
    return { record, event, entry: { kind: 'none', offset } };

  const resolved = resolveRecord(live.definition, event, partition, record);
  if (resolved.ok)
    return { record, event, entry: { kind: 'event', offset, board, event: resolved.event } };
  if (resolved.code === 'WINDOW_CLOSED' && live.definition.late === 'count')
    return { record, event, entry: { kind: 'none', offset, late: resolved.detail } };
  return { record, event, entry: deadLetter(offset, resolved) };
}

/**
 * A player record from before the board begins counts, too: the player is still banned. A voided
 * record does not count.
 */
function readPlayerRecord(
  record: KafkaRecord,
  event: DecodedPlayerRecord,
  partition: number,
  boards: Boards,
): ReadRecord {
  const { offset } = record;
  const { board, playerId } = event;
  const live = boards.live.get(board);
  if (live === undefined) return { record, event, entry: notLive(offset, board, boards) };

  if (isVoided(live.definition, event, partition, record))
    return { record, event, entry: { kind: 'none', offset } };

  const entry = banText(event, { partition, offset });
  return { record, event, entry: { kind: 'player', offset, board, playerId, entry } };
}

/** The entry of a record whose board is not live: it is being built, or unknown. */
function notLive(offset: number, board: string, { live, building }: Boards): ReadRecord['entry'] {
  if (building.has(board)) return { kind: 'none', offset };
  const detail = unknownBoardDetail(board, live);
  return deadLetter(offset, { code: 'UNKNOWN_BOARD', detail });
}

/**
 * Gives each verdict its record. Both lists are in order of offsets. A record can have several
 * verdicts, or none.
 */
export function withRecords(
  verdicts: readonly Verdict[],
  items: readonly ReadRecord[],
): RecordVerdict[] {
  const found: RecordVerdict[] = [];
  let index = 0;
  for (const verdict of verdicts) {
    while ((items[index]?.record.offset ?? Infinity) < verdict.offset) index += 1;
    const read = items[index];
    if (read?.record.offset === verdict.offset) found.push({ verdict, read });
  }
  return found;
}

/** Cuts the detail, because Redis and Kafka keep a copy of it for each record. */
function deadLetter(offset: number, { code, detail }: DeadLetterReason): ApplyEntry {
  return { kind: 'deadLetter', offset, code, detail: cutDetail(detail) };
}

const MAX_SUGGESTIONS = 5;
/** How many unknown names get suggestions. Each such name is compared with all live boards. */
const MAX_COMPARED_NAMES = 100;

/** The details of dead letters for unknown boards, by the map of live boards, then by name. */
const unknownDetails = new WeakMap<object, Map<string, string>>();

function unknownBoardDetail(board: string, boards: ReadonlyMap<string, LiveBoard>): string {
  const details = unknownDetails.get(boards) ?? new Map<string, string>();
  unknownDetails.set(boards, details);
  const known = details.get(board);
  if (known !== undefined) return known;

  const detail = `there is no board ${JSON.stringify(board)}`;
  if (details.size >= MAX_COMPARED_NAMES) return detail;

  const near = nearNames(board, boards.keys(), MAX_SUGGESTIONS);
  const full = near.length === 0 ? detail : `${detail}; did you mean ${near.join(', ')}?`;
  details.set(board, full);
  return full;
}
