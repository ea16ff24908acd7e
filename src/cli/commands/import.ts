import { isDeepStrictEqual } from 'node:util';
import { decimalColumns } from '#board';
import { HOLDER, LEASE_MS, LeaseStore } from '#board-store';
import { ScoreProducer } from '#client';
import { CommandError, EXIT, readCode } from '../exit-codes.js';
import { withLease } from '../held-lease.js';
import { OpeningEvents, type OpeningOptions } from '../import/opening-events.js';
import { fileRows, zsetRows, type Row } from '../import/rows.js';
import { readLog, withKafka, writtenRanges, type KafkaSession } from '../kafka-session.js';
import { sizeOf } from '../lines.js';
import { print, table } from '../output.js';
import { withRedis, type RedisSession } from '../session.js';

export interface ImportOptions extends OpeningOptions {
  readonly key?: string;
  readonly round?: true;
  readonly dryRun?: true;
  readonly compare?: true;
  readonly view?: string;
  readonly allowPartialHistory?: boolean;
  readonly json?: true;
}

export function importScores(board: string, from: string, options: ImportOptions): Promise<number> {
  const { key, round, compare } = options;
  if (/^rediss?:/.test(from) !== (key !== undefined))
    throw new CommandError('a Redis needs --key, and a file takes none', EXIT.usage);
  if (round && key === undefined) throw new CommandError('--round needs --key', EXIT.usage);
  if (key === undefined) sizeOf(from); // throws if it is missing
  return withRedis(async (session) => {
    const { definition } = await session.reader.board(board);
    const overviews = await session.status.overviews();
    const clock = overviews.find((known) => known.board === board)?.clock ?? -Infinity;
    const at = options.at ?? (compare && Date.now());
    const opening = new OpeningEvents(definition, clock, { ...options, at });
    const run = async (rows: AsyncIterable<Row>) => {
      const work = compare ? compareWithBoard : sendMissing;
      const { code, ...facts } = await work(session, opening, rows, options);
      const { refused } = opening.counts;
      print({ rows: opening.counts.rows, refused, ...facts }, options, (answer) =>
        table(['board', board], Object.entries<string | number | boolean>(answer)),
      );
      return code === EXIT.ok && refused > 0 ? EXIT.no : code;
    };
    if (key === undefined) return run(fileRows(from));
    const decimals = round && Math.min(...definition.columns.map((column) => column.decimals));
    return withRedis(({ redis }) => run(zsetRows(redis, key, decimals)), undefined, from);
  });
}

/**
 * Compares columns, not times, with a view, by default the overall ranking; writes each difference to standard error. `extra`
 * counts players of the view whom the source lacks. Cost: O(log N) a player.
 */
async function compareWithBoard(
  { reader }: RedisSession,
  opening: OpeningEvents,
  rows: AsyncIterable<Row>,
  { view: asked }: ImportOptions,
) {
  const { definition } = opening;
  const { view, size, stale } = await reader.standings(definition.board, { view: asked, limit: 0 });
  let [compared, different, extra] = [0, 0, size];
  for await (const group of opening.of(rows)) {
    const events = group.filter(({ resolved }) => resolved.views.some((it) => it.view === view));
    if (events.length === 0) continue;
    const ids = events.map(({ resolved }) => resolved.playerId);
    const { entries } = await reader.players(definition.board, ids, { view });
    const ranked = new Map(entries.map(({ playerId, columns }) => [playerId, columns]));
    for (const { playerId, values } of events.map(({ resolved }) => resolved)) {
      const [source, found] = [decimalColumns(definition, values), ranked.get(playerId)];
      if (isDeepStrictEqual(source, { ...found })) continue;
      different += 1;
      const board = found ? Object.values(found).join(' ') : 'not ranked';
      process.stderr.write(
        `${playerId}: source ${Object.values(source).join(' ')}, board ${board}\n`,
      );
    }
    compared += events.length;
    extra -= entries.length;
  }
  const code = readCode(stale, different + extra === 0 ? EXIT.ok : EXIT.no);
  return { code, view, stale, compared, different, extra };
}

/**
 * Sends the events that the log lacks, unless it is a dry run. Cost: reads the score topic once.
 * @throws CommandError if the beginning of the log is gone, SendError, LeaseHeldError, LeaseLostError
 */
async function sendMissing(
  redis: RedisSession,
  opening: OpeningEvents,
  rows: AsyncIterable<Row>,
  { dryRun, allowPartialHistory = false }: ImportOptions,
) {
  await withKafka((session) =>
    alone(redis, opening.definition.board, async (signal) => {
      for await (const record of readWritten(session, allowPartialHistory)) opening.addSent(record);
      const { kafka, settings } = session;
      const producer = new ScoreProducer({ kafka, topicPrefix: settings.topicPrefix });
      if (!dryRun) await producer.connect(); // a dry run needs no right to write to Kafka
      try {
        for await (const events of opening.of(rows)) {
          signal.throwIfAborted();
          if (!dryRun) await producer.sendMessages(events.map(({ message }) => message));
        }
      } finally {
        await producer.disconnect();
      }
    }),
  );
  const { repeated, made } = opening.counts;
  return { code: EXIT.ok, repeated, tied: opening.tied, [dryRun ? 'toSend' : 'sent']: made };
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

async function* readWritten(session: KafkaSession, allowPartialHistory: boolean) {
  const ranges = await writtenRanges(session);
  if (!allowPartialHistory && [...ranges.values()].some(({ start }) => start > 0))
    throw new CommandError(
      `the beginning of ${session.topics.scoreEvents} is gone, so players of an earlier import would count twice; if there was none, use --allow-partial-history`,
      EXIT.usage,
    );
  yield* readLog(session, ranges);
}
