import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { BoardOverview, BoardReader, KeySpace, RecoveryTarget } from '#board-store';
import { formatTime } from '#board';
import { requireTopics } from '../../infra/topics.js';
import {
  readPositions,
  readProgress,
  type PartitionPosition,
  type Progress,
} from '../../standings/positions.js';
import { EXIT } from '../exit-codes.js';
import { print, table } from '../output.js';
import { ProgressBar } from '../progress.js';
import { readWork, workJson, workText } from '../reconciliation-report.js';
import { withKafka, type KafkaSession } from '../kafka-session.js';
import { withRedis } from '../session.js';

export interface StatusOptions {
  readonly wait?: number;
  readonly json?: boolean;
}

/** `ranklog status`. */
export function status(options: StatusOptions): Promise<number> {
  return withKafka((session) => showStatus(session, options));
}

async function showStatus(kafka: KafkaSession, options: StatusOptions): Promise<number> {
  const { settings, admin, topics } = kafka;
  return withRedis(async ({ redis, keys, reader }) => {
    await requireTopics(admin, [topics.scoreEvents]);
    const where = { topic: topics.scoreEvents, group: settings.group };
    const read = () => readPositions(kafka, reader, where);
    const positions = await read();
    const done =
      options.wait === undefined ||
      (await waitFor(positions, () => readProgress(admin, reader, where), options.wait));
    const last = options.wait === undefined ? positions : await read();
    const facts = await readFacts(redis, keys, reader);
    const json = { partitions: last, ...factsJson(facts) };
    print(json, options, () => [toTable(last), ...lagText(last), ...factsText(facts)].join('\n\n'));
    if (!done)
      process.stderr.write(`ranklog: not everything is published after ${options.wait ?? 0} s\n`);
    return done ? EXIT.ok : EXIT.no;
  });
}

type Facts = Awaited<ReturnType<typeof readFacts>>;

async function readFacts(redis: Redis, keys: KeySpace, reader: BoardReader) {
  return {
    boards: await reader.overviews(),
    recovering: await reader.recoveryTargets(),
    work: await readWork(redis, keys, reader),
  };
}

function factsJson({ boards, recovering, work }: Facts) {
  return { boards: boards.map(boardToJson), recovering, ...workJson(work) };
}

function factsText({ boards, recovering, work }: Facts): string[] {
  return [boardsTable(boards), ...recoveringText(recovering), ...workText(work)];
}

const POLL_MS = 200;

/** Waits until every partition has published its present records; false when the time is up. */
async function waitFor(
  positions: readonly PartitionPosition[],
  read: () => Promise<ReadonlyMap<number, Progress>>,
  seconds: number,
): Promise<boolean> {
  const goal = sum(positions.map(({ committedEnd }) => committedEnd));
  const deadline = performance.now() + seconds * 1_000;
  const bar = new ProgressBar('events published', goal);
  try {
    for (;;) {
      const progress = await read();
      const reached = sum(positions.map((position) => reachedIn(progress, position)));
      bar.update(reached);
      if (reached === goal) return true;
      if (performance.now() >= deadline) return false;
      await delay(POLL_MS);
    }
  } finally {
    bar.stop();
  }
}

function reachedIn(
  progress: ReadonlyMap<number, Progress>,
  { partition, committedEnd }: PartitionPosition,
): number {
  const { applied, published } = progress.get(partition) ?? { applied: 0, published: 0 };
  return Math.min(applied, published, committedEnd);
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

/** Only the process of a partition knows that it has stopped. */
function lagText(positions: readonly PartitionPosition[]): string[] {
  if (positions.every(({ lag }) => lag === 0)) return [];
  return [
    'If a lag does not shrink, the partition may have stopped: see /health of its process, or the metric ranklog_partition_stopped.',
  ];
}

function boardToJson({ clock, ...board }: BoardOverview) {
  return { ...board, clock: clock === null ? null : formatTime(clock) };
}

function recoveringText(recovering: readonly RecoveryTarget[]): string[] {
  if (recovering.length === 0) return [];
  const rows = recovering.map(({ shard, partition, applied, target }) => [
    shard,
    partition,
    applied,
    target,
  ]);
  const head = ['shard', 'partition', 'applied', 'of'];
  return [
    `Redis has lost events. Ranklog applies them again; reads are stale until then:\n\n${table(head, rows)}`,
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
