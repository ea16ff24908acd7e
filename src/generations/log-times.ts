import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, Kafka } from 'kafkajs';
import type { GenerationStore, Starts } from '#board-store';
import { lastCommittedRecord, logRanges, offsetsAtTime, type LogRange } from '#kafka-batch';
import type { Logger } from '../infra/logger.js';

/** The score topic, and where live ingest is in it. */
export interface TimedLog {
  readonly kafka: Kafka;
  readonly admin: Admin;
  readonly topic: string;
  readonly generations: Pick<GenerationStore, 'liveAppliedOffsets'>;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

const LOOK_EVERY_MS = 200;
/** After so many looks, about ten seconds, people are told. */
const LOOKS_UNTIL_TOLD = 50;

/** What people are to look at who wait for live ingest. */
export const IS_IT_RUNNING = 'does a service run? "ranklog status" shows how far it is';

/**
 * The first offsets from a time (ms) on. A generation that begins ahead of live ingest would be given what lies between as
 * soon as it is live: so live ingest is waited for. @throws the reason of the signal
 */
export async function startsAtTime(log: TimedLog, board: string, time: number): Promise<Starts> {
  const { admin, topic, signal, logger } = log;
  const starts = new Map(await offsetsAtTime(admin, topic, time));
  for (let look = 0; ; look++) {
    const ahead = await aheadOfIngest(log, board, starts);
    if (ahead.length === 0) return starts;
    const wait = `board "${board}" waits for live ingest to come to where it begins`;
    if (look === 0) logger.info(wait);
    if (look === LOOKS_UNTIL_TOLD) logger.warn(`${wait} (${ahead.join(', ')}): ${IS_IT_RUNNING}`);
    await delay(LOOK_EVERY_MS, undefined, { signal });
  }
}

/** Where starts lie ahead of live ingest, in words; those behind which the log has nothing are moved back to it. */
async function aheadOfIngest(
  log: TimedLog,
  board: string,
  starts: Map<number, number>,
): Promise<string[]> {
  const live = await log.generations.liveAppliedOffsets(board);
  const nextOf = (partition: number) => (live.get(partition) ?? -1) + 1;
  const ahead = [...starts].filter(([partition, start]) => start > nextOf(partition));
  if (ahead.length === 0) return [];
  const ranges = await logRanges(log.admin, log.topic);
  const places = ahead.map(async ([partition, start]) => {
    const next = nextOf(partition);
    if ((await recordsEnd(log, { partition, start, range: ranges.get(partition) })) > next)
      return `partition ${partition}: at offset ${next} of ${start}`;
    starts.set(partition, next);
    return [];
  });
  return (await Promise.all(places)).flat();
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

/**
 * Where the partitions begin whose log was cut before any of it was read: new boards begin there, too. Leaves out partitions
 * that were read, since their lost records may be on boards.
 */
export async function startsOfUnreadLog(
  admin: Admin,
  topic: string,
  group: string,
): Promise<Starts> {
  const ranges = await logRanges(admin, topic);
  const [committed] = await admin.fetchOffsets({ groupId: group, topics: [topic] });
  const read = new Set(
    (committed?.partitions ?? [])
      .filter(({ offset }) => Number(offset) > 0)
      .map(({ partition }) => partition),
  );
  return new Map(
    [...ranges]
      .filter(([partition, { start }]) => start > 0 && !read.has(partition))
      .map(([partition, { start }]) => [partition, start]),
  );
}
