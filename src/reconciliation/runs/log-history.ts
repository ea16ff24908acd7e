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
  return [...ranges]
    .map(([partition, { start }]) => {
      return { partition, from: needed?.get(partition) ?? 0, logStart: start };
    })
    .filter(({ from, logStart }) => from < logStart)
    .sort((a, b) => a.partition - b.partition);
}

/**
 * The first offset that each partition's log must still have for a start at a time. If that start
 * is the first offset left in a cut log, deleted records may also be of that time or later: then
 * the last deleted offset is needed, which the log lacks.
 */
export function neededFrom(starts: Starts, ranges: Ranges): Starts {
  return new Map(
    [...starts].map(([partition, from]) => {
      const { start: logStart = 0 } = ranges.get(partition) ?? {};
      return [partition, logStart > 0 && from <= logStart ? logStart - 1 : from];
    }),
  );
}

/** Where a generation begins if it is built from the rest of a cut log. */
export function startsOfRest(starts: Starts | undefined, ranges: Ranges): Starts {
  const partitions = new Set([...(starts?.keys() ?? []), ...ranges.keys()]);
  return new Map(
    [...partitions].map((partition) => [
      partition,
      Math.max(starts?.get(partition) ?? 0, ranges.get(partition)?.start ?? 0),
    ]),
  );
}

/** Whether a generation begins between `least` and `most` in every partition. */
export function isBetween(
  starts: Starts | undefined,
  least: Starts | undefined,
  most: Starts | undefined,
): boolean {
  const all = [starts, least, most];
  const partitions = new Set(all.flatMap((some) => [...(some?.keys() ?? [])]));
  return [...partitions].every((partition) => {
    const [start = 0, low = 0, high = 0] = all.map((some) => some?.get(partition));
    return low <= start && start <= high;
  });
}

/** The score topic, and how far live ingest has come in it. */
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
 * The first offsets from a time (ms) on. Waits until live ingest has reached them: otherwise live
 * ingest would, after the promotion, skip the events between its own position and the start, which
 * would have no results.
 * @throws the reason of the signal
 */
export async function startsAtTime(
  log: HistoryParts,
  board: string,
  time: number,
): Promise<Starts> {
  const { admin, topic, signal, logger } = log;
  const starts = new Map(await offsetsAtTime(admin, topic, time));
  for (let check = 0; ; check++) {
    const ahead = await aheadOfIngest(log, board, starts);
    if (ahead.length === 0) return starts;
    const wait = `board "${board}" waits for live ingest to reach the start of the build`;
    if (check === 0) logger.info(wait);
    if (check === CHECKS_UNTIL_WARNING)
      logger.warn(`${wait} (${ahead.join(', ')}): ${IS_IT_RUNNING}`);
    await delay(CHECK_EVERY_MS, undefined, { signal });
  }
}

/**
 * Describes the starts that lie ahead of live ingest. If no record lies between, moves the start
 * back to live ingest instead.
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
  const places = ahead.map(async ([partition, start]) => {
    const at = next(partition);
    if ((await recordsEnd(log, { partition, start, range: ranges.get(partition) })) > at)
      return `partition ${partition}: at offset ${at} of ${start}`;
    starts.set(partition, at);
    return [];
  });
  return (await Promise.all(places)).flat();
}

/**
 * `start`; or, if it is the end of the log, the offset after the last record, as the log may end in
 * transaction markers.
 */
async function recordsEnd(
  { kafka, topic }: HistoryParts,
  { partition, start, range }: { partition: number; start: number; range: LogRange | undefined },
): Promise<number> {
  if (range === undefined || start < range.end) return start;
  const last = await lastCommittedRecord(kafka, topic, partition);
  return Math.min(start, last === undefined ? range.start : last.offset + 1);
}

/**
 * The first offset left of each partition whose log was cut before the group read any of it: new
 * boards begin there. Leaves out partitions that were read: boards may contain their lost records.
 */
export async function startsOfUnreadLog(
  { kafka, admin }: Pick<HistoryParts, 'kafka' | 'admin'>,
  topic: string,
  group: string,
): Promise<Starts> {
  const ranges = await logRanges(kafka, topic);
  const committed = await committedOffsets(admin, group, topic);
  return new Map(
    [...ranges]
      .filter(([partition, { start }]) => start > 0 && !committed.get(partition))
      .map(([partition, { start }]) => [partition, start]),
  );
}
