import type { Kafka } from 'kafkajs';
import { isVoided, resolveEvent, type BoardDefinition } from '#board';
import type { LiveBoard } from '#board-store';
import {
  decodeScoreEvent,
  isRepeat,
  type DeadLetterCode,
  type DecodedScoreEvent,
} from '#contracts';
import { readRanges, type KafkaRecord, type LogRange } from '#kafka-batch';

/** Events that the live definition accepts and the new one refuses: a build leaves them out. */
export interface LeftOut {
  events: number;
  /** Whether all records were checked that the build will read, not only a sample of them. */
  readonly isExact: boolean;
  readonly kinds: { readonly code: DeadLetterCode; readonly example: string; events: number }[];
}

/** The live generation of a changed board, and the new definition. */
export interface Change {
  readonly live: LiveBoard;
  readonly file: BoardDefinition;
}

/** Reading this many records takes about ten seconds. */
const MOST_RECORDS = 1_000_000;
/** If the log has more records, STRETCHES of equal length are read of each partition. */
const STRETCHES = 20;

/**
 * Counts the events in these ranges that builds of changed boards leave out, by board. It keeps no
 * rankings, so it does not count events that are refused for expired views or for sums.
 */
export async function readLeftOut(
  source: { readonly kafka: Kafka; readonly topic: string },
  ranges: ReadonlyMap<number, LogRange>,
  changes: readonly Change[],
): Promise<Map<string, LeftOut>> {
  let total = 0;
  for (const { start, end } of ranges.values()) total += end - start;
  const isExact = total <= MOST_RECORDS;
  const found = new Map(changes.map(({ file }) => [file.board, { events: 0, isExact, kinds: [] }]));
  if (changes.length === 0) return found;

  const stretches = isExact ? 1 : STRETCHES;
  const share = isExact ? 1 : MOST_RECORDS / total;
  for (let stretch = 0; stretch < stretches; stretch++) {
    const part = new Map<number, LogRange>();
    for (const [partition, { start, end }] of ranges) {
      const length = (end - start) / stretches;
      const from = start + length * stretch;
      const to = from + length * share;
      part.set(partition, { start: Math.floor(from), end: Math.ceil(to) });
    }
    for await (const round of readRanges(part, source)) {
      for (const { partition, records } of round)
        for (const record of records) count(partition, record, changes, found);
    }
  }
  return found;
}

/** Counts a record if the build of its board leaves it out. */
function count(
  partition: number,
  record: KafkaRecord,
  changes: readonly Change[],
  found: ReadonlyMap<string, LeftOut>,
): void {
  const decoded = decodeScoreEvent(record);
  if (!decoded.ok) return;
  const { board } = decoded.event;
  const change = changes.find(({ file }) => file.board === board);
  const leftOut = found.get(board);
  if (change === undefined || leftOut === undefined) return;

  const { live, file } = change;
  const resolved = resolveEvent(file, decoded.event, record.timestamp);
  if (resolved.ok || !isInLive(live, decoded.event, partition, record)) return;
  // The file may refuse a retry, because a window has closed, and accept the original record.
  if (isRepeat(decoded.event, { ...live, definition: file })) return;

  leftOut.events += 1;
  const { code, detail } = resolved;
  const kind = leftOut.kinds.find((known) => known.code === code);
  if (kind === undefined) leftOut.kinds.push({ code, example: detail, events: 1 });
  else kind.events += 1;
}

/** Whether the live generation contains an event. */
function isInLive(
  live: LiveBoard,
  event: DecodedScoreEvent,
  partition: number,
  record: KafkaRecord,
): boolean {
  if (record.offset < (live.starts?.get(partition) ?? 0)) return false;
  if (!resolveEvent(live.definition, event, record.timestamp).ok) return false;
  return !isVoided(live.definition, event, partition, record) && !isRepeat(event, live);
}
