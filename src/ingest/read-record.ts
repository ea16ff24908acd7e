import { resolveEvent } from '#board';
import type { ApplyEntry, Boards, LiveBoard } from '#board-store';
import { decodeScoreEvent, type DecodedScoreEvent } from '#contracts';
import type { KafkaRecord } from '#kafka-batch';

/** A record that has nothing to apply, and of which nothing is told. */
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
  if (!decoded.ok) {
    const { code, detail } = decoded;
    return { record, event: undefined, entry: { kind: 'deadLetter', offset, code, detail } };
  }
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
    const known = [...boards.keys()].sort().join(', ');
    const detail = `there is no board ${JSON.stringify(board)}; live boards: ${known}`;
    return { kind: 'deadLetter', offset, code: 'UNKNOWN_BOARD', detail };
  }
  const resolved = resolveEvent(live.definition, event, timestamp);
  return resolved.ok
    ? { kind: 'event', offset, board, event: resolved.event }
    : { kind: 'deadLetter', offset, ...resolved.rejection };
}
