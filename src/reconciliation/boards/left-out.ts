import type { Kafka } from 'kafkajs';
import { isVoided, resolveEvent, type BoardDefinition } from '#board';
import type { LiveBoard } from '#board-store';
import { decodeScoreEvent, isRepeat, type DeadLetterCode } from '#contracts';
import { readRanges, type KafkaRecord, type LogRange } from '#kafka-batch';

/**
 * Events that the live definition of a board accepts and that of the file refuses: a build leaves
 * them out.
 */
export interface LeftOut {
  events: number;
  /** Whether all records that the build reads were looked at, and not only a sample of them. */
  readonly isExact: boolean;
  readonly kinds: { readonly code: DeadLetterCode; readonly example: string; events: number }[];
}

/** The live generation of a changed board, and the new definition. */
export interface Change {
  readonly live: LiveBoard;
  readonly file: BoardDefinition;
}

/**
 * Reading this many records takes about ten seconds. Of a longer log, STRETCHES of equal length are
 * read.
 */
const MOST_RECORDS = 1_000_000;
const STRETCHES = 20;

/**
 * What builds of changed boards leave out of these ranges, by board. Needs no state, so it counts
 * no expired views or sums.
 */
export async function readLeftOut(
  source: { readonly kafka: Kafka; readonly topic: string },
  ranges: ReadonlyMap<number, LogRange>,
  changes: readonly Change[],
): Promise<Map<string, LeftOut>> {
  const total = [...ranges.values()].reduce((sum, { start, end }) => sum + end - start, 0);
  const isExact = total <= MOST_RECORDS;
  const [stretches, share] = isExact ? [1, 1] : [STRETCHES, MOST_RECORDS / total];
  const found = new Map(changes.map(({ file }) => [file.board, { events: 0, isExact, kinds: [] }]));
  for (let stretch = 0; stretch < stretches && changes.length > 0; stretch++) {
    const part = [...ranges].map(([partition, { start, end }]): [number, LogRange] => {
      const length = (end - start) / stretches;
      const from = start + length * stretch;
      return [partition, { start: Math.floor(from), end: Math.ceil(from + length * share) }];
    });
    for await (const round of readRanges(new Map(part), source))
      for (const { partition, records } of round)
        for (const record of records) count(partition, record, changes, found);
  }
  return found;
}

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
  if (resolved.ok || !resolveEvent(live.definition, decoded.event, record.timestamp).ok) return;
  if (isVoided(live.definition, decoded.event, partition, record)) return;
  if (record.offset < (live.starts?.get(partition) ?? 0) || isRepeat(decoded.event, live)) return;
  // A retry that the file refuses because a window has closed, of a record that it accepts.
  if (isRepeat(decoded.event, { ...live, definition: file })) return;
  const { code, detail: example } = resolved;
  let kind = leftOut.kinds.find((known) => known.code === code);
  if (kind === undefined) leftOut.kinds.push((kind = { code, example, events: 0 }));
  kind.events += 1;
  leftOut.events += 1;
}
