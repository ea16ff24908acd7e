import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { BoardReader, KeySpace, type BoardOverview, type HealTarget } from '#board-store';
import { formatTime } from '#contracts';
import { redisFrom, waitForServices } from '../../operations/clients.js';
import { readPositions, type PartitionPosition } from '../../query/positions.js';
import { CommandError, EXIT } from '../exit-codes.js';
import { print, table } from '../output.js';
import { ProgressBar } from '../progress-bar.js';
import { runCommand } from '../run-command.js';
import { withKafka, type KafkaSession } from '../session.js';
import { wholeNumber } from './standings.js';

interface Options {
  readonly wait?: number;
  readonly json?: boolean;
}

/** `ranklog status`: how far every partition is; with --wait, until what is in the log now is published. */
export function statusCommand(): Command {
  return new Command('status')
    .description('show how far ingest is in each partition, and what each board has counted')
    .option(
      '--wait <seconds>',
      'wait until all that is in the log now is applied and published',
      wholeNumber,
    )
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExit code with --wait: 0 when it is published, 1 when time was up.\n\nExample:\n  ranklog status --wait 60',
    )
    .action((options: Options) =>
      runCommand(() => withKafka((session) => status(session, options))),
    );
}

async function status(session: KafkaSession, options: Options): Promise<number> {
  const { settings, logger, admin, topics } = session;
  const redis = redisFrom(settings, logger);
  try {
    await waitForServices(settings, { redis }, logger);
    const reader = new BoardReader(redis, new KeySpace(settings.redisPrefix));
    if (!(await admin.listTopics()).includes(topics.scoreEvents))
      throw new CommandError(
        `there is no topic ${topics.scoreEvents}; create it with "ranklog topics"`,
        EXIT.usage,
      );
    const read = () =>
      readPositions(admin, reader, { topic: topics.scoreEvents, group: settings.group });
    const { positions, done } = await waitFor(read, options.wait);
    const boards = await reader.overviews();
    const healing = await reader.healing();
    print({ partitions: positions, boards: boards.map(boardToJson), healing }, options, () =>
      [toTable(positions), boardsTable(boards), ...healingText(healing)].join('\n\n'),
    );
    if (!done) process.stderr.write(`ranklog: not all published after ${options.wait ?? 0} s\n`);
    return done ? EXIT.ok : EXIT.no;
  } finally {
    redis.disconnect();
  }
}

const POLL_MS = 200;

/** Positions now; with `seconds`, once every partition is past the log end of the first reading, or time is up. */
async function waitFor(
  read: () => Promise<PartitionPosition[]>,
  seconds: number | undefined,
): Promise<{ positions: PartitionPosition[]; done: boolean }> {
  const first = await read();
  if (seconds === undefined) return { positions: first, done: true };
  const goals = new Map(first.map(({ partition, logEnd }) => [partition, logEnd]));
  const deadline = performance.now() + seconds * 1_000;
  const bar = new ProgressBar('events published', sum(first.map(({ logEnd }) => logEnd)));
  try {
    for (let positions = first; ; positions = await read()) {
      const reached = positions.map(({ partition, applied, published }) =>
        Math.min(applied, published, goals.get(partition) ?? 0),
      );
      bar.update(sum(reached));
      const done = positions.every(
        ({ partition }, index) => reached[index] === (goals.get(partition) ?? 0),
      );
      if (done || performance.now() >= deadline) return { positions, done };
      await delay(POLL_MS);
    }
  } finally {
    bar.stop();
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function toTable(positions: readonly PartitionPosition[]): string {
  return table(
    ['partition', 'log end', 'applied', 'published', 'lag'],
    positions.map(({ partition, logEnd, applied, published, lag }) => [
      partition,
      logEnd,
      applied,
      published,
      lag,
    ]),
  );
}

function boardToJson({ clock, ...board }: BoardOverview) {
  return { ...board, clock: clock === null ? null : formatTime(clock) };
}

/** Nothing when no shard heals. */
function healingText(healing: readonly HealTarget[]): string[] {
  if (healing.length === 0) return [];
  const rows = healing.map(({ shard, partition, applied, target }) => [
    shard,
    partition,
    applied,
    target,
  ]);
  const head = ['shard', 'partition', 'applied', 'of'];
  return [
    `Redis has lost events, which are being applied again; reads are stale until then:\n\n${table(head, rows)}`,
  ];
}

function boardsTable(boards: readonly BoardOverview[]): string {
  return table(
    ['board', 'views', 'maxViews', 'event clock', 'expired', 'duplicates'],
    boards.map(({ board, views, maxViews, clock, expired, duplicates }) => [
      board,
      views,
      maxViews,
      clock === null ? '-' : formatTime(clock),
      expired,
      duplicates,
    ]),
  );
}
