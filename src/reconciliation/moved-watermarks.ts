import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, Kafka } from 'kafkajs';
import type { Difference, KeptWatermark, Lease, WatermarkStore } from '#board-store';
import { LogReader, logRanges, type LogRange } from '#kafka-batch';
import { WatermarkBeyondLogError } from './errors.js';
import type { Log } from './log.js';

/** A second look tells what was moved from a log whose end was seen late. */
const LOOK_AGAIN_MS = 1_000;

/** So many rounds without anything, and the log has nothing more to give: a transaction is open, over which nothing is applied. */
const MOST_IDLE_ROUNDS = 10;

interface WatermarkParts {
  readonly kafka: Kafka;
  readonly admin: Admin;
  /** The score topic. */
  readonly topic: string;
  readonly watermarks: WatermarkStore;
  readonly logger: Log;
}

/** A watermark that is not that of what was applied last, in the shard of a board. */
export interface MovedWatermark {
  readonly kept: KeptWatermark;
  /** The offset of the record that was applied last; missing where that is lost, too. */
  readonly record?: number;
  /** The offset behind the last one of the log. */
  readonly logEnd: number;
}

/**
 * The watermarks of a board's shard that somebody has moved: beyond the log, over records that were not applied, below
 * what was applied, or away. Cost: some requests; where nothing was moved, records are read only behind a watermark
 * above its last record, as markers of transactions leave it.
 */
export async function movedWatermarks(
  parts: WatermarkParts,
  board: string,
  signal: AbortSignal,
): Promise<MovedWatermark[]> {
  const first = await look(parts, board, signal);
  if (first.length === 0) return [];
  await delay(LOOK_AGAIN_MS, undefined, { signal });
  const seen = new Map(first.map(({ kept }) => [kept.partition, kept.watermark]));
  const second = await look(parts, board, signal);
  return second.filter(
    ({ kept: { partition, watermark } }) =>
      seen.has(partition) && seen.get(partition) === watermark,
  );
}

/**
 * Sets the watermarks of a board's shard back that somebody has moved, to what was applied last. Live ingest goes on from
 * there, so that what was written meanwhile is applied, and published, once. @throws LeaseLostError, WatermarkBeyondLogError where
 * the log ends before what was applied
 */
export async function mendWatermarks(
  parts: WatermarkParts,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  const { board } = lease;
  const moved = await movedWatermarks(parts, board, signal);
  if (moved.length === 0) return;
  const beyond = moved.flatMap(({ kept: { partition }, record = -1, logEnd }) =>
    record >= logEnd ? { partition, watermark: record, logEnd } : [],
  );
  if (beyond.length > 0) throw new WatermarkBeyondLogError(board, beyond, true);
  const now = await parts.watermarks.mend(
    lease,
    moved.map(({ kept }) => kept),
  );
  for (const [index, { kept }] of moved.entries())
    parts.logger.warn(
      `the watermark of partition ${kept.partition} was moved by hand to ${kept.watermark ?? 'nowhere'}; ` +
        `it is ${now[index]} again, from where live ingest goes on`,
    );
}

/** As a difference of a board in the shard. */
export function movedDifference({ kept, record, logEnd }: MovedWatermark): Difference {
  const { partition, watermark = 'none' } = kept;
  const expected = record === undefined ? `at most ${logEnd - 1}` : `${record}`;
  return {
    view: '',
    kind: 'watermark',
    partition,
    expected: `partition ${partition}: ${expected}`,
    found: watermark,
  };
}

/** Offsets, both included. */
interface Span {
  readonly from: number;
  readonly through: number;
}

async function look(
  parts: WatermarkParts,
  board: string,
  signal: AbortSignal,
): Promise<MovedWatermark[]> {
  const kept = await parts.watermarks.kept(board);
  const ranges = await logRanges(parts.admin, parts.topic); // after that, so that the log has what was applied
  const found = kept.map((one) => withLog(one, ranges.get(one.partition)));
  const wrong = found.filter((one) => isWrong(one));
  const unsure = found.filter((one) => !wrong.includes(one));
  const spans = unsure.flatMap((one) => spanBehind(one, ranges.get(one.kept.partition)));
  const skipped = await partitionsWithRecords(parts, new Map(spans), signal);
  return found.filter((one) => wrong.includes(one) || skipped.has(one.kept.partition));
}

function withLog(kept: KeptWatermark, { end }: LogRange = { start: 0, end: 0 }): MovedWatermark {
  const record = kept.record === undefined ? {} : { record: Number.parseInt(kept.record, 10) };
  return { kept, ...record, logEnd: end };
}

/** What can be told without the log: that it is no number, or beyond the log, or below what was applied. */
function isWrong({ kept, record = -1, logEnd }: MovedWatermark): boolean {
  const watermark = Number(kept.watermark ?? -1);
  return !Number.isSafeInteger(watermark) || watermark >= logEnd || watermark < record;
}

/** What lies between the last applied record and the watermark, and is still there: markers of transactions, if all is right. */
function spanBehind(
  { kept, record }: MovedWatermark,
  { start }: LogRange = { start: 0, end: 0 },
): [partition: number, span: Span][] {
  const through = Number(kept.watermark ?? -1);
  const from = Math.max(start, (record ?? through) + 1);
  return from > through ? [] : [[kept.partition, { from, through }]];
}

/** Those of the partitions of which the log has a record in the span, or does not come to its end. */
async function partitionsWithRecords(
  { kafka, topic, logger }: WatermarkParts,
  spans: ReadonlyMap<number, Span>,
  signal: AbortSignal,
): Promise<Set<number>> {
  const found = new Set(spans.keys());
  if (found.size === 0) return found;
  const open = new Map(spans);
  const from = new Map([...spans].map(([partition, span]) => [partition, span.from]));
  const reader = await LogReader.open({ kafka, topic, from, signal, logger });
  try {
    for (let idle = 0; open.size > 0 && idle < MOST_IDLE_ROUNDS;) {
      const batches = await reader.fetch((one) => open.has(one));
      idle = batches.length > 0 || reader.isWaiting ? 0 : idle + 1;
      for (const { partition, records, nextOffset } of batches) {
        const { through } = open.get(partition) ?? { through: -1 };
        const [first] = records;
        if (first !== undefined && first.offset <= through) open.delete(partition);
        else if (nextOffset > through && open.delete(partition)) found.delete(partition);
      }
    }
  } finally {
    await reader.close();
  }
  return found;
}
