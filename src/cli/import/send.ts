import { HOLDER, LEASE_MS, LeaseStore } from '#board-store';
import { ScoreProducer } from '#client';
import { logRanges } from '#kafka-batch';
import { requireTopics } from '../../infra/topics.js';
import { CommandError, EXIT } from '../exit-codes.js';
import { withLease } from '../held-lease.js';
import { withKafka, type KafkaSession } from '../kafka-session.js';
import { readLog } from '../log-records.js';
import type { RedisSession } from '../session.js';
import type { OpeningEvent, OpeningEvents } from './opening-events.js';
import type { Row } from './rows.js';

interface SendOptions {
  readonly dryRun?: boolean;
  readonly allowPartialHistory?: boolean;
}

/**
 * Sends the events that the log lacks, unless it is a dry run. Cost: reads the score topic once.
 * @throws CommandError if the beginning of the log is gone, SendError, LeaseHeldError, LeaseLostError
 */
export async function sendMissing(
  session: RedisSession,
  opening: OpeningEvents,
  rows: AsyncIterable<Row>,
  { dryRun = false, allowPartialHistory = false }: SendOptions,
) {
  await withKafka((kafka) =>
    alone(session, opening.definition.board, async (signal) => {
      await readSent(kafka, opening, allowPartialHistory);
      const groups = opening.of(rows);
      if (!dryRun) return send(kafka, groups, signal);
      while ((await groups.next()).done !== true);
    }),
  );
  const { repeated, tied, made } = opening;
  const sent = dryRun ? { toSend: made } : { sent: made };
  return { code: EXIT.ok, facts: { repeated, tied, ...sent } };
}

/** Runs work while no other import into the board runs. The signal is aborted when the lease that ensures this is lost. */
async function alone(
  { redis, keys, status }: RedisSession,
  board: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const leases = new LeaseStore(redis, keys, { shards: await status.shards() });
  const lost = new AbortController();
  const lease = await withLease(() => leases.acquire(`${board} (import)`, HOLDER), lost.signal);
  const renew = () => void leases.renew(lease).catch((error: unknown) => lost.abort(error));
  const timer = setInterval(renew, LEASE_MS / 5);
  try {
    await work(lost.signal);
  } finally {
    clearInterval(timer);
    await leases.release(lease);
  }
}

/** Adds the events that the log has. */
async function readSent(
  kafka: KafkaSession,
  opening: OpeningEvents,
  allowPartialHistory: boolean,
): Promise<void> {
  const topic = kafka.topics.scoreEvents;
  await requireTopics(kafka.admin, [topic]);
  const ranges = await logRanges(kafka.admin, topic);
  if (!allowPartialHistory && [...ranges.values()].some(({ start }) => start > 0))
    throw new CommandError(
      `the beginning of ${topic} is gone, so players of an earlier import would count twice; if there was none, use --allow-partial-history`,
      EXIT.usage,
    );
  for await (const record of readLog(kafka, ranges)) opening.addSent(record);
}

async function send(
  { kafka, settings: { topicPrefix } }: KafkaSession,
  groups: AsyncIterable<readonly OpeningEvent[]>,
  signal: AbortSignal,
): Promise<void> {
  const producer = new ScoreProducer({ kafka, topicPrefix, source: '/ranklog/import' });
  await producer.connect();
  try {
    for await (const events of groups) {
      signal.throwIfAborted();
      await producer.sendMessages(events.map(({ text }) => producer.toMessage(text)));
    }
  } finally {
    await producer.disconnect();
  }
}
