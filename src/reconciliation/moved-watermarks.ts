import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, Kafka } from 'kafkajs';
import {
  isOffset,
  keptOffset,
  keptRecord,
  type Difference,
  type KeptWatermark,
  type Lease,
  type RecordIdentity,
  type WatermarkStore,
} from '#board-store';
import { LogReader, logRanges, recordAt, type LogRange } from '#kafka-batch';
import { isSameRecord } from '../ingest/score-log.js';
import { OtherRecordError, WatermarkBeyondLogError } from './errors.js';
import type { Log } from './log.js';
import { patiently } from './patiently.js';

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

/** A watermark in the shard of a board, and what there is to judge it by. */
export interface SeenWatermark {
  readonly kept: KeptWatermark;
  /** The record that was applied last; missing where that is lost. */
  readonly record?: RecordIdentity;
  readonly log: LogRange;
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
): Promise<SeenWatermark[]> {
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
 * there, so that what was written meanwhile is applied, and published, once. @throws LeaseLostError; WatermarkBeyondLogError,
 * OtherRecordError where what Redis keeps of it does not fit the log
 */
export async function mendWatermarks(
  parts: WatermarkParts,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  const { board } = lease;
  const moved = await movedWatermarks(parts, board, signal);
  if (moved.length === 0) return;
  checkEnds(board, moved);
  const seen = [];
  for (const one of moved)
    seen.push({ ...one.kept, ...(await lastOffset(parts, one, { board, signal })) });
  const now = await parts.watermarks.mend(lease, seen);
  for (const [index, { kept }] of moved.entries())
    parts.logger.warn(
      `the watermark of partition ${kept.partition} was moved by hand to ${kept.watermark ?? 'nowhere'}; ` +
        `it is ${now[index]} again, from where live ingest goes on`,
    );
}

/** As a difference of a board in the shard. */
export function movedDifference({ kept, record, log }: SeenWatermark): Difference {
  const { partition, watermark = 'none' } = kept;
  const expected = record === undefined ? `at most ${log.end - 1}` : `${record.offset}`;
  return {
    view: '',
    kind: 'watermark',
    partition,
    expected: `partition ${partition}: ${expected}`,
    found: watermark,
  };
}

/** @throws WatermarkBeyondLogError */
function checkEnds(board: string, moved: readonly SeenWatermark[]): void {
  const beyond = moved.flatMap(({ kept: { partition }, record, log }) =>
    record !== undefined && record.offset >= log.end
      ? { partition, watermark: record.offset, logEnd: log.end }
      : [],
  );
  if (beyond.length > 0) throw new WatermarkBeyondLogError(board, beyond, true);
}

/**
 * The offset of the last record, where there is one. One that the log has no more is believed.
 * @throws OtherRecordError where the log has another one there, or later ones are published
 */
async function lastOffset(
  parts: WatermarkParts,
  moved: SeenWatermark,
  { board, signal }: { readonly board: string; readonly signal: AbortSignal },
): Promise<{ lastOffset?: number }> {
  const { kept, record, log } = moved;
  if (record === undefined) return {};
  const { offset } = record;
  const refused = (why: string) => new OtherRecordError(board, kept.partition, offset, why);
  const { kafka, topic, logger } = parts;
  const read = () => recordAt(kafka, { topic, partition: kept.partition, offset });
  if (offset >= log.start && !isSameRecord(await patiently(read, { signal, logger }), record))
    throw refused('the log has another one there');
  const published = kept.isHealing ? [] : spanBehind(moved, kept.published - 1);
  if ((await partitionsWithRecords(parts, new Map(published), signal)).size > 0)
    throw refused(`later ones are published, up to offset ${kept.published - 1}`);
  return { lastOffset: offset };
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
): Promise<SeenWatermark[]> {
  const kept = await parts.watermarks.kept(board);
  const ranges = await logRanges(parts.admin, parts.topic); // after that, so that the log has what was applied
  const found = kept.map((one) => withLog(one, ranges.get(one.partition)));
  const wrong = found.filter((one) => isWrong(one));
  const unsure = found.filter((one) => !wrong.includes(one));
  const spans = unsure.flatMap((one) => spanBehind(one, keptOffset(one.kept.watermark)));
  const skipped = await partitionsWithRecords(parts, new Map(spans), signal);
  return found.filter((one) => wrong.includes(one) || skipped.has(one.kept.partition));
}

function withLog(kept: KeptWatermark, log: LogRange = { start: 0, end: 0 }): SeenWatermark {
  const record = keptRecord(kept.record);
  return { kept, log, ...(record && { record }) };
}

/** What can be told without the log: that it is no number, or beyond the log, or below what was applied. */
function isWrong({ kept, record, log }: SeenWatermark): boolean {
  const { watermark = '-1' } = kept;
  const [offset, applied] = [keptOffset(watermark), record?.offset ?? -1];
  return !isOffset(watermark) || offset >= log.end || offset < applied;
}

/** What lies between the last applied record and an offset, and is still there: markers of transactions, if all is right. */
function spanBehind(
  { kept, record, log }: SeenWatermark,
  through: number,
): [partition: number, span: Span][] {
  const from = Math.max(log.start, (record?.offset ?? through) + 1);
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
