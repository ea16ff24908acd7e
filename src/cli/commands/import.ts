import type { BoardDefinition } from '#board';
import { createRedis } from '../../infra/redis.js';
import { waitForServices } from '../../infra/services.js';
import { requireTopics } from '../../infra/topics.js';
import { CommandError, EXIT, readCode } from '../exit-codes.js';
import { compareWithBoard, type Comparison } from '../import/compare.js';
import { OpeningEvents, type OpeningOptions } from '../import/opening-events.js';
import { fileRows, zsetRows, type Row } from '../import/rows.js';
import { alone, removeSent, send } from '../import/send.js';
import { withKafka } from '../kafka-session.js';
import { sizeOf } from '../lines.js';
import { print, table } from '../output.js';
import { ProgressBar } from '../progress.js';
import { withRedis, type RedisSession } from '../session.js';

export interface ImportOptions extends OpeningOptions {
  readonly key?: string;
  readonly round?: true;
  readonly dryRun?: true;
  readonly skipBad?: true;
  readonly compare?: true;
  readonly view?: string;
  readonly rate?: number;
  readonly allowPartialHistory?: true;
  readonly json?: true;
}

export function importScores(board: string, from: string, options: ImportOptions): Promise<number> {
  return withRedis(async (session) => {
    const { definition } = await session.reader.board(board);
    const clocks = await session.status.overviews();
    const clock = clocks.find((known) => known.board === board)?.clock ?? -Infinity;
    const at = options.at ?? (options.compare && Date.now());
    const opening = new OpeningEvents({ definition, clock }, { ...options, at });
    await readSource(session, { from, ...options }, opening);
    return options.compare
      ? compare(session, opening, { definition, ...options })
      : sendMissing(session, opening, { board, ...options });
  });
}

/** Adds the rows of a file or, by the URL of a Redis, of a ZSET. @throws CommandError */
async function readSource(
  { settings: ours, logger }: RedisSession,
  { from, key, round }: ImportOptions & { readonly from: string },
  opening: OpeningEvents,
): Promise<void> {
  if (/^rediss?:/.test(from) !== (key !== undefined))
    throw new CommandError('a Redis needs --key, and a file takes none', EXIT.usage);
  if (key === undefined) {
    sizeOf(from);
    return addAll(fileRows(from), opening);
  }
  const settings = { ...ours, redisUrl: from };
  const redis = createRedis(settings, logger);
  try {
    await waitForServices(settings, { redis }, logger);
    const rows = zsetRows(redis, key, round && opening.decimals);
    await addAll(rows, opening);
  } finally {
    redis.disconnect();
  }
}

const ROWS_PER_UPDATE = 1_000;

async function addAll(rows: AsyncIterable<Row>, opening: OpeningEvents): Promise<void> {
  const bar = new ProgressBar('rows read', 0);
  try {
    for await (const row of rows) {
      opening.add(row);
      if (opening.rows % ROWS_PER_UPDATE === 0) bar.update(opening.rows);
    }
  } finally {
    bar.stop();
  }
}

/** Sends the events that the log lacks, unless a row was refused or it is a dry run. */
function sendMissing(
  session: RedisSession,
  opening: OpeningEvents,
  options: ImportOptions & { readonly board: string },
): Promise<number> {
  const { board, id, rate, dryRun = false, skipBad = false } = options;
  const { rows, refused, problems, tied } = opening;
  const isSending = !dryRun && (refused === 0 || skipBad);
  return withKafka(async (kafka) => {
    await requireTopics(kafka.admin, [kafka.topics.scoreEvents]);
    const sent = await alone(session, board, async (signal) => {
      const found = await removeSent(kafka, opening, options);
      if (isSending) await send(kafka, opening, { rate, signal });
      return found;
    });
    const missing = opening.byPlayer.size;
    const counts = isSending ? { sent: missing, toSend: 0 } : { sent: 0, toSend: missing };
    print({ board, id, rows, refused, problems, tied, ...sent, ...counts }, options, toText);
    return refused + sent.changedSince === 0 ? EXIT.ok : EXIT.no;
  });
}

async function compare(
  { reader }: RedisSession,
  opening: OpeningEvents,
  options: ImportOptions & { readonly definition: BoardDefinition },
): Promise<number> {
  const found = await compareWithBoard(reader, opening, options);
  const { refused, problems } = opening;
  const { differences } = found;
  const { board } = options.definition;
  const answer = { board, ...found, refused, problems, different: differences.length };
  print(answer, options, toText);
  const isEqual = refused + differences.length + found.extra === 0;
  return readCode(found.stale, isEqual ? EXIT.ok : EXIT.no);
}

interface Answer extends Pick<OpeningEvents, 'problems'> {
  readonly board: string;
  readonly differences?: Comparison['differences'];
}

const SHOWN = 20;

/** The counts, the problems with their first rows, and the first differences. */
function toText({ board, problems, differences = [], ...counts }: Answer): string {
  const columns = (some: object | null) =>
    some === null ? 'not ranked' : Object.values(some).join(' ');
  return [
    table(['board', board], Object.entries(counts)),
    ...Object.entries(problems).flatMap(([code, { rows, examples }]) => [
      `\n${code}: ${rows} rows, such as`,
      ...examples,
    ]),
    differences.length === 0
      ? ''
      : `\n${table(
          ['player', 'source', 'board'],
          differences
            .slice(0, SHOWN)
            .map(({ playerId, source, board }) => [playerId, columns(source), columns(board)]),
        )}`,
  ]
    .filter(Boolean)
    .join('\n');
}
