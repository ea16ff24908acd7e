import { HOLDER, LEASE_MS, LeaseStore } from '#board-store';
import { ScoreProducer } from '#client';
import { headerText } from '#contracts';
import {
  LogReader,
  logRanges,
  type KafkaRecord,
  type LogRange,
  type LogReaderOptions,
} from '#kafka-batch';
import { Throttle } from '../../infra/throttle.js';
import { CommandError, EXIT } from '../exit-codes.js';
import { withLease } from '../held-lease.js';
import type { KafkaSession } from '../kafka-session.js';
import { ProgressBar } from '../progress.js';
import type { RedisSession } from '../session.js';
import { idPrefix, type OpeningEvents } from './opening-events.js';

/** Runs work while no other import into the board runs. The signal is aborted when the lease that ensures this is lost. */
export async function alone<T>(
  { redis, keys, status }: RedisSession,
  board: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const leases = new LeaseStore(redis, keys, { shards: await status.shards() });
  const lost = new AbortController();
  const lease = await withLease(() => leases.acquire(`${board} (import)`, HOLDER), lost.signal);
  const renew = () => void leases.renew(lease).catch((error: unknown) => lost.abort(error));
  const timer = setInterval(renew, LEASE_MS / 5);
  try {
    return await work(lost.signal);
  } finally {
    clearInterval(timer);
    await leases.release(lease);
  }
}

interface Search {
  readonly board: string;
  readonly id: string;
  readonly allowPartialHistory?: boolean;
}

/**
 * Removes the events that the log has. Returns how many these are, and how many of them differ from those in the log.
 * Cost: reads the score topic once, to its present end. @throws CommandError if the beginning of the log is gone
 */
export async function removeSent(
  { kafka, admin, topics: { scoreEvents: topic }, logger }: KafkaSession,
  { byPlayer }: OpeningEvents,
  { board, id, allowPartialHistory = false }: Search,
): Promise<{ readonly importedBefore: number; readonly changedSince: number }> {
  const ranges = await logRanges(admin, topic);
  if (!allowPartialHistory && [...ranges.values()].some(({ start }) => start > 0))
    throw new CommandError(
      `the beginning of ${topic} is gone, so players of an earlier import would count twice; if there was none, use --allow-partial-history`,
      EXIT.usage,
    );
  let [importedBefore, changedSince] = [0, 0];
  await readLog({ kafka, topic, ranges, logger }, ({ headers, value }) => {
    if (headerText(headers, 'ce_id')?.startsWith(idPrefix(id)) !== true) return;
    const sent = JSON.parse(String(value)) as { board: string; playerId: string };
    const event = byPlayer.get(sent.playerId);
    if (sent.board !== board || event === undefined) return;
    byPlayer.delete(sent.playerId);
    importedBefore += 1;
    if (event.text !== String(value)) changedSince += 1;
  });
  return { importedBefore, changedSince };
}

/** Reads all records that the log has now. */
async function readLog(
  { ranges, ...options }: Omit<LogReaderOptions, 'from'> & { ranges: Map<number, LogRange> },
  take: (record: KafkaRecord) => void,
): Promise<void> {
  const from = new Map([...ranges].map(([partition, { start }]) => [partition, start]));
  const total = [...ranges.values()].reduce((sum, { start, end }) => sum + end - start, 0);
  const bar = new ProgressBar('records of the log read', total);
  const reader = await LogReader.open({ ...options, from });
  const isLeft = (partition: number) =>
    (reader.positions.get(partition) ?? 0) < (ranges.get(partition)?.end ?? 0);
  let read = 0;
  try {
    while ([...ranges.keys()].some(isLeft)) {
      const batches = await reader.fetch(isLeft);
      for (const record of batches.flatMap(({ records }) => records)) {
        take(record);
        read += 1;
      }
      bar.update(read);
    }
  } finally {
    bar.stop();
    await reader.close();
  }
}

const EVENTS_PER_SEND = 1_000;

/** Sends events, at most `rate` per second. @throws SendError, and the reason of the signal */
export async function send(
  { kafka, settings: { topicPrefix } }: KafkaSession,
  { byPlayer }: OpeningEvents,
  { rate, signal }: { readonly rate: number | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const producer = new ScoreProducer({ kafka, topicPrefix, source: '/ranklog/import' });
  await producer.connect();
  const events = [...byPlayer.values()];
  const throttle = new Throttle(rate);
  const bar = new ProgressBar('events sent', events.length);
  const atOnce = Math.min(EVENTS_PER_SEND, rate ?? Infinity);
  try {
    for (let from = 0; from < events.length; from += atOnce) {
      signal.throwIfAborted();
      const some = events.slice(from, from + atOnce);
      await throttle.next(some.length, signal);
      await producer.sendMessages(some.map(({ text }) => producer.toMessage(text)));
      bar.update(from + some.length);
    }
  } finally {
    bar.stop();
    await producer.disconnect();
  }
}
