import { resolveEvent } from '#board';
import type { ApplyEntry, LiveBoard } from '#board-store';
import { decodeScoreEvent, type DecodedScoreEvent } from '#contracts';
import type { KafkaRecord } from '#kafka-batch';

/** A record of the score topic: what it says (undefined when it can't be read) and what to apply. */
export interface ReadRecord {
  readonly record: KafkaRecord;
  readonly event: DecodedScoreEvent | undefined;
  readonly entry: ApplyEntry;
}

/** Decodes a record and resolves it against the live boards. Never throws for any bytes: what can't be applied is a dead letter. */
export function readRecord(
  record: KafkaRecord,
  boards: ReadonlyMap<string, LiveBoard>,
): ReadRecord {
  const { offset } = record;
  const decoded = decodeScoreEvent(record);
  if (!decoded.ok) {
    const { code, detail } = decoded;
    return { record, event: undefined, entry: { kind: 'deadLetter', offset, code, detail } };
  }
  return { record, event: decoded.event, entry: toEntry(record, decoded.event, boards) };
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
