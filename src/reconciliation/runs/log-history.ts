import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, Kafka } from 'kafkajs';
import type { GenerationStore, Shadow, Starts } from '#board-store';
import {
  committedOffsets,
  lastCommittedRecord,
  logRanges,
  offsetsAtTime,
  type LogRange,
} from '#kafka-batch';
import type { Logger } from '../../infra/logger.js';
import type { CutPartition } from './run-errors.js';

/** A shadow and its applied offsets, by partition. */
export interface OpenShadow {
  readonly shadow: Shadow;
  readonly appliedOffsets: ReadonlyMap<number, number>;
}

type Ranges = ReadonlyMap<number, LogRange>;

/** The first offset that a shadow lacks, by partition. */
export function nextOffsets({ shadow, appliedOffsets }: OpenShadow): Starts {
  const next = new Map(shadow.starts);
  for (const [partition, offset] of appliedOffsets) next.set(partition, offset + 1);
  return next;
}

/** The partitions whose log begins after the first needed offset, by default 0. */
export function cutPartitions(ranges: Ranges, needed: Starts | undefined): CutPartition[] {
  const cut: CutPartition[] = [];
  for (const [partition, { start: logStart }] of ranges) {
    const from = needed?.get(partition) ?? 0;
    if (from < logStart) cut.push({ partition, from, logStart });
  }
  return cut.sort((a, b) => a.partition - b.partition);
}

/**
 * The first offset that the log of each partition must still hold for a generation that starts at a
 * time. If the log was cut and begins at or after the start, it may have lost records of that time
 * or later. Then the last deleted offset is returned, so that the partition counts as cut.
 */
export function neededFrom(starts: Starts, ranges: Ranges): Starts {
  const needed = new Map<number, number>();
  for (const [partition, from] of starts) {
    const logStart = ranges.get(partition)?.start ?? 0;
    const mayLackRecords = logStart > 0 && from <= logStart;
    needed.set(partition, mayLackRecords ? logStart - 1 : from);
  }
  return needed;
}

/** Where a generation begins if it is built from the rest of a cut log. */
export function startsOfRest(starts: Starts | undefined, ranges: Ranges): Starts {
  const rest = new Map(starts);
  for (const [partition, { start: logStart }] of ranges)
    rest.set(partition, Math.max(rest.get(partition) ?? 0, logStart));
  return rest;
}

/** Whether a generation begins between `least` and `most` in every partition. */
export function isBetween(
  starts: Starts | undefined,
  least: Starts | undefined,
  most: Starts | undefined,
): boolean {
  const partitions = new Set<number>();
  for (const offsets of [starts, least, most])
    for (const partition of offsets?.keys() ?? []) partitions.add(partition);

  for (const partition of partitions) {
    const start = starts?.get(partition) ?? 0;
    const low = least?.get(partition) ?? 0;
    const high = most?.get(partition) ?? 0;
    if (start < low || start > high) return false;
  }
  return true;
}

/** How to read the score topic, and how far live ingest is in it. */
export interface HistoryParts {
  readonly kafka: Kafka;
  readonly admin: Admin;
  readonly topic: string;
  readonly generations: Pick<GenerationStore, 'liveAppliedOffsets'>;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** Each check opens connections to the brokers. */
const CHECK_EVERY_MS = 1_000;
const CHECKS_UNTIL_WARNING = 10;

/** The last part of a warning about a wait for live ingest. */
export const IS_IT_RUNNING = 'does a service run? "ranklog status" shows how far live ingest is';

/**
 * The first offsets from a time (ms) on. Waits until live ingest has reached them. Otherwise, after
 * the promotion, live ingest would skip the events between its own position and the start, and
 * these events would have no results.
 * @throws the reason of the signal
 */
export async function startsAtTime(
  log: HistoryParts,
  board: string,
  time: number,
): Promise<Starts> {
  const { admin, topic, signal, logger } = log;
  const starts = new Map(await offsetsAtTime(admin, topic, time));
  const wait = `board "${board}" waits for live ingest to reach the start of the build`;
  for (let check = 0; ; check++) {
    const ahead = await aheadOfIngest(log, board, starts);
    if (ahead.length === 0) return starts;

    if (check === 0) logger.info(wait);
    if (check === CHECKS_UNTIL_WARNING)
      logger.warn(`${wait} (${ahead.join(', ')}): ${IS_IT_RUNNING}`);
    await delay(CHECK_EVERY_MS, undefined, { signal });
  }
}

/**
 * Describes the starts that are ahead of live ingest. If there is no record between live ingest and
 * a start, moves this start back to live ingest instead.
 */
async function aheadOfIngest(
  log: HistoryParts,
  board: string,
  starts: Map<number, number>,
): Promise<string[]> {
  const live = await log.generations.liveAppliedOffsets(board);
  const next = (partition: number) => (live.get(partition) ?? -1) + 1;
  const ahead = [...starts].filter(([partition, start]) => start > next(partition));
  if (ahead.length === 0) return [];

  const ranges = await logRanges(log.kafka, log.topic);
  const waits = ahead.map(async ([partition, start]) => {
    const position = next(partition);
    const end = await recordsEnd(log, { partition, start, range: ranges.get(partition) });
    if (end > position) return `partition ${partition}: at offset ${position} of ${start}`;

    starts.set(partition, position);
    return undefined;
  });
  const texts = await Promise.all(waits);
  return texts.filter((text) => text !== undefined);
}

/**
 * Returns `start`. If `start` is the end of the log, returns the offset after the last record, as
 * the log may end in transaction markers.
 */
async function recordsEnd(
  { kafka, topic }: HistoryParts,
  { partition, start, range }: { partition: number; start: number; range: LogRange | undefined },
): Promise<number> {
  if (range === undefined || start < range.end) return start;

  const last = await lastCommittedRecord(kafka, topic, partition);
  const end = last === undefined ? range.start : last.offset + 1;
  return Math.min(start, end);
}

/**
 * The first offset left in each partition whose log was cut before the group read any of it: new
 * boards begin there. Omits partitions that the group has read, because boards may have lost
 * records of them.
 */
export async function startsOfUnreadLog(
  { kafka, admin }: Pick<HistoryParts, 'kafka' | 'admin'>,
  topic: string,
  group: string,
): Promise<Starts> {
  const ranges = await logRanges(kafka, topic);
  const committed = await committedOffsets(admin, group, topic);
  const starts = new Map<number, number>();
  for (const [partition, { start }] of ranges) {
    const isCut = start > 0;
    const hasRead = (committed.get(partition) ?? 0) !== 0;
    if (isCut && !hasRead) starts.set(partition, start);
  }
  return starts;
}
