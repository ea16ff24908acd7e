import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, Kafka } from 'kafkajs';
import type { GenerationStore, Starts } from '#board-store';
import { lastCommittedRecord, logRanges, offsetsAtTime, type LogRange } from '#kafka-batch';
import type { Log } from './log.js';

/** The score topic, and where live ingest is in it. */
export interface TimedLog {
  readonly kafka: Kafka;
  readonly admin: Admin;
  readonly topic: string;
  readonly generations: Pick<GenerationStore, 'liveWatermarks'>;
  readonly signal: AbortSignal;
  readonly logger: Log;
}

const LOOK_EVERY_MS = 200;

/**
 * The first offsets from a time (ms) on. A generation that begins ahead of live ingest would be given what lies between as
 * soon as it is live: so live ingest is waited for. @throws the reason of the signal
 */
export async function startsAtTime(log: TimedLog, board: string, time: number): Promise<Starts> {
  const { admin, topic, generations, signal, logger } = log;
  const starts = new Map(await offsetsAtTime(admin, topic, time));
  for (let isTold = false; ; isTold = true) {
    const live = await generations.liveWatermarks(board);
    const ahead = [...starts].filter(
      ([partition, start]) => start - 1 > (live.get(partition) ?? -1),
    );
    const ranges = ahead.length > 0 ? await logRanges(admin, topic) : new Map<number, LogRange>();
    const isBehind = await Promise.all(
      ahead.map(async ([partition, start]) => {
        const watermark = live.get(partition) ?? -1;
        const isIdle =
          (await recordsEnd(log, { partition, start, range: ranges.get(partition) })) <=
          watermark + 1;
        if (isIdle) starts.set(partition, watermark + 1);
        return !isIdle;
      }),
    );
    if (!isBehind.includes(true)) return starts;
    if (!isTold) logger.info(`board "${board}" waits for live ingest to come to where it begins`);
    await delay(LOOK_EVERY_MS, undefined, { signal });
  }
}

/** An offset, or, where no record follows, the one behind the last record before it. */
async function recordsEnd(
  { kafka, topic }: TimedLog,
  { partition, start, range }: { partition: number; start: number; range: LogRange | undefined },
): Promise<number> {
  if (range === undefined || start < range.end) return start;
  const last = await lastCommittedRecord(kafka, topic, partition);
  return Math.min(start, last === undefined ? range.start : last.offset + 1);
}
