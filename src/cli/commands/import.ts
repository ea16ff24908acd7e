import { isDeepStrictEqual } from 'node:util';
import { decimalColumns } from '#board';
import { HOLDER } from '#board-store';
import { logRanges, partitionOf } from '#kafka-batch';
import { readIdentity } from '../../infra/identity.js';
import { maxMessageBytes } from '../../infra/topics.js';
import { keepLease, type KeptLease } from '../../reconciliation/runs/kept-lease.js';
import { sizeOf } from '../input/lines.js';
import { OpeningEvents, type OpeningOptions } from '../input/opening-events.js';
import { refuseRepeatedPlayers } from '../input/repeated-players.js';
import { fileRows, openRepeatable, zsetRows, type Row } from '../input/rows.js';
import { withLease } from '../sessions/held-lease.js';
import { openKafka, readWithProgress, type KafkaSession } from '../sessions/kafka-session.js';
import { ScoreLogWriter } from '../sessions/score-log-writer.js';
import { openForeignRedis, openRedis, type RedisSession } from '../sessions/session.js';
import { interruption } from '../sessions/terminal.js';
import { timeOn } from '../text/board-times.js';
import { CommandError, EXIT, readCode } from '../text/exit-codes.js';
import type { TimeText } from '../text/options.js';
import { print, table } from '../text/output.js';

interface ImportOptions extends Omit<OpeningOptions, 'at'> {
  readonly at?: TimeText;
  readonly key?: string;
  readonly round?: true;
  readonly dryRun?: true;
  readonly compare?: true;
  readonly view?: string;
  readonly allowPartialHistory?: boolean;
  readonly json?: true;
}

type Rows = AsyncIterable<Row>;

/** What an import works on. Ctrl-C aborts the signal. */
interface Job {
  readonly session: RedisSession;
  readonly opening: OpeningEvents;
  readonly options: ImportOptions;
  readonly signal: AbortSignal;
}

export function importScores(board: string, from: string, options: ImportOptions): Promise<number> {
  const { key } = options;
  if (/^rediss?:/.test(from) !== (key !== undefined))
    throw new CommandError('a Redis needs --key, and a file takes none', EXIT.usage);
  return key === undefined
    ? importFile(board, from, options)
    : importZset(board, { url: from, key }, options);
}

async function importFile(board: string, from: string, options: ImportOptions): Promise<number> {
  sizeOf(from); // throws if it is missing
  await using file = await openRepeatable(from);
  using cancellation = interruption();
  using session = await openRedis();
  const { signal } = cancellation;
  const opening = await openingEvents(session, board, options);
  const { definition } = opening;
  await refuseRepeatedPlayers(fileRows(file, definition), board, signal); // reads the whole file
  const rows = fileRows(file, definition, options.round);
  return await run({ session, opening, options, signal }, rows);
}

async function importZset(
  board: string,
  { url, key }: { url: string; key: string },
  options: ImportOptions,
): Promise<number> {
  using cancellation = interruption();
  using session = await openRedis();
  const { signal } = cancellation;
  const opening = await openingEvents(session, board, options);
  // A sorted set has one score for all columns: it is rounded to the column with the fewest
  // decimals.
  const decimals = Math.min(...opening.definition.columns.map((column) => column.decimals));
  using source = await openForeignRedis(url);
  const rows = zsetRows(source.redis, key, options.round ? decimals : undefined);
  return await run({ session, opening, options, signal }, rows);
}

async function openingEvents(
  { stores: { reader, status } }: RedisSession,
  board: string,
  options: ImportOptions,
) {
  const { definition } = await reader.board(board);
  const overviews = await status.overviews();
  const clock = overviews.find((known) => known.board === board)?.clock ?? -Infinity;
  // A comparison looks at no times, so any time will do.
  const anyTime = options.compare ? Date.now() : undefined;
  const at = options.at === undefined ? anyTime : timeOn(definition, options.at);
  return new OpeningEvents(definition, clock, { ...options, at });
}

async function run(job: Job, rows: Rows): Promise<number> {
  const { opening, options } = job;
  const work = options.compare ? compareWithBoard : sendMissing;
  const { code, ...facts } = await work(job, rows);
  const { refused } = opening.counts;
  print({ rows: opening.counts.rows, refused, ...facts }, options, (answer) =>
    table(['board', opening.definition.board], Object.entries<string | number | boolean>(answer)),
  );
  return code === EXIT.ok && refused > 0 ? EXIT.no : code;
}

/**
 * Compares the columns of the source with a view, by default the overall ranking. Does not compare
 * times. Writes each difference to standard error. `extra` counts players of the view whom the
 * source lacks.
 * Cost: O(log N) a player.
 */
async function compareWithBoard(
  { session: { stores }, opening, options, signal }: Job,
  rows: Rows,
) {
  const { definition } = opening;
  const { reader } = stores;
  const headOnly = { view: options.view, limit: 0 };
  const { view, size, stale } = await reader.standings(definition.board, headOnly);

  let compared = 0;
  let different = 0;
  let extra = size;
  for await (const group of opening.of(rows)) {
    signal.throwIfAborted();
    const events = group
      .map(({ resolved }) => resolved)
      .filter(({ views }) => views.some((change) => change.view === view));
    if (events.length === 0) continue;

    const ids = events.map(({ playerId }) => playerId);
    const { entries } = await reader.players(definition.board, ids, { view });
    const ranked = new Map(entries.map(({ playerId, columns }) => [playerId, columns]));
    for (const { playerId, values } of events) {
      const source = decimalColumns(definition, values);
      const found = ranked.get(playerId);
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
 * Sends the events that the log lacks, unless it is a dry run.
 * Cost: reads the score topic once.
 * @throws CommandError if the beginning of the log is gone, or another import took over;
 * LeaseHeldError, LeaseLostError
 */
async function sendMissing({ session: redis, opening, options, signal }: Job, rows: Rows) {
  const { board } = opening.definition;
  const { dryRun = false } = options;
  await using session = await openKafka();
  await using lease = await holdImportLease(redis, board, signal);
  const maxBytes = await maxMessageBytes(session.admin, session.topics.scoreEvents);
  opening.maxBytes = maxBytes;
  const { group } = await readIdentity(redis.redis, session, session.settings);
  const target = { group, purpose: `import-${board}`, maxBytes };
  // Opened before the log is read, as it fences earlier imports.
  await using writer = dryRun ? undefined : await ScoreLogWriter.open(session, target);
  await send(session, { opening, options, signal: lease.signal, writer }, rows);
  const { repeated, made, partlyLate } = opening.counts;
  const sent = dryRun ? 'toSend' : 'sent';
  return { code: EXIT.ok, repeated, tied: opening.tied, partlyLate, [sent]: made };
}

interface Sending extends Omit<Job, 'session'> {
  readonly writer: ScoreLogWriter | undefined;
}

async function send(
  session: KafkaSession,
  { opening, options, signal, writer }: Sending,
  rows: Rows,
): Promise<void> {
  const topic = session.topics.scoreEvents;
  const ranges = await logRanges(session.kafka, topic, 'written');
  const isCut = [...ranges.values()].some(({ start }) => start > 0);
  if (isCut && options.allowPartialHistory !== true)
    throw new CommandError(
      `the beginning of ${topic} is gone, so players of an earlier import would count twice; ` +
        'if there was none, use --allow-partial-history',
      EXIT.usage,
    );
  for await (const record of readWithProgress(session, ranges)) {
    signal.throwIfAborted();
    opening.addSent(record);
  }
  for await (const events of opening.of(rows)) {
    signal.throwIfAborted();
    for (const { message } of events)
      await writer?.add(partitionOf(message.key, ranges.size), message);
  }
  await writer?.flush();
}

/**
 * Takes the lease of imports into a board: no other import runs until it is disposed. The signal of
 * the lease is aborted with `signal`, and when the lease is lost.
 * @throws LeaseHeldError
 */
async function holdImportLease(
  { stores: { leases } }: RedisSession,
  board: string,
  signal: AbortSignal,
): Promise<KeptLease> {
  const lease = await withLease(() => leases.acquire(`${board} (import)`, HOLDER), signal);
  return keepLease(leases, lease, signal);
}
