import { setTimeout as delay } from 'node:timers/promises';
import {
  LeaseStore,
  type BoardOverview,
  type ReconciliationStatus,
  type RecoveryTarget,
} from '#board-store';
import { reconciliationJson } from '../../generations/reconciliation-json.js';
import { requireTopics } from '../../infra/topics.js';
import {
  readPositions,
  readProgress,
  type PartitionPosition,
  type Progress,
} from '../../standings/positions.js';
import { EXIT } from '../exit-codes.js';
import { countText, durationText, startsText, timeText } from '../value-text.js';
import { withKafka, type KafkaSession } from '../kafka-session.js';
import { print, table } from '../output.js';
import { ProgressBar } from '../progress.js';
import { withRedis, type RedisSession } from '../session.js';

export interface StatusOptions {
  readonly wait?: number;
  readonly json?: boolean;
}

export function status(options: StatusOptions): Promise<number> {
  return withKafka((kafka) => withRedis((redis) => showStatus(kafka, redis, options)));
}

async function showStatus(
  kafka: KafkaSession,
  redis: RedisSession,
  { wait, json }: StatusOptions,
): Promise<number> {
  const { settings, admin, topics } = kafka;
  await requireTopics(admin, [topics.scoreEvents]);
  const where = { topic: topics.scoreEvents, group: settings.group };
  let positions = await readPositions(kafka, redis.status, where);
  let isDone = true;
  if (wait !== undefined) {
    isDone = await waitFor(positions, () => readProgress(admin, redis.status, where), wait);
    positions = await readPositions(kafka, redis.status, where);
  }
  const facts = await readFacts(redis);
  print({ partitions: positions, ...factsJson(facts) }, { json }, () =>
    [toTable(positions), lagText(positions), ...factsText(facts)].filter(Boolean).join('\n\n'),
  );
  if (isDone) return EXIT.ok;
  process.stderr.write(`ranklog: not everything is published after ${wait ?? 0} s\n`);
  return EXIT.no;
}

type Facts = Awaited<ReturnType<typeof readFacts>>;

async function readFacts({ redis, keys, status }: RedisSession) {
  const shards = await status.shards();
  const [boards, recovering, { live, building }, reconciliations] = await Promise.all([
    status.overviews(),
    status.recoveryTargets(),
    status.boards(),
    new LeaseStore(redis, keys, { shards }).statuses(),
  ]);
  const partialHistory = [...live.values()].flatMap(({ board, generation, starts }) =>
    starts === undefined ? [] : { board, generation, startsAt: Object.fromEntries(starts) },
  );
  return { boards, recovering, building: [...building].sort(), partialHistory, reconciliations };
}

function factsJson(facts: Facts) {
  const boards = facts.boards.map(({ clock, ...board }) => ({ ...board, clock: timeText(clock) }));
  return { ...facts, boards, reconciliations: facts.reconciliations.map(reconciliationJson) };
}

/** Paragraphs on the boards, the recovery, running and failed reconciliations, boards not built yet, and partial history; or ''. */
function factsText({
  boards,
  recovering,
  building,
  partialHistory,
  reconciliations,
}: Facts): string[] {
  const shown = reconciliations.filter(({ state }) => state === 'running' || state === 'failed');
  const waiting = building.filter((name) => shown.every(({ board }) => board !== name));
  return [
    boardsTable(boards),
    recoveringText(recovering),
    shown.length === 0 ? '' : reconciliationsTable(shown),
    waiting.length === 0
      ? ''
      : `not built yet, so not readable: ${waiting.join(', ')}; the role reconciliation or "ranklog boards apply" builds them`,
    ...partialHistory.map(
      ({ board, startsAt }) =>
        `board ${board} lacks the beginning of the log: ${startsText(startsAt)}`,
    ),
  ];
}

const POLL_MS = 200;

/** Waits until every partition is applied and published up to its `committedEnd`. Returns false when the time is up. */
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
    positions.map(({ partition, logEnd, applied, published, lag }) => {
      return [partition, logEnd, applied, published, lag];
    }),
  );
}

/** Says where to see whether a partition has stopped, because only its own process knows. */
function lagText(positions: readonly PartitionPosition[]): string {
  if (positions.every(({ lag }) => lag === 0)) return '';
  return 'If a lag does not shrink, the partition may have stopped: see /health of its process, or the metric ranklog_partition_stopped.';
}

function recoveringText(recovering: readonly RecoveryTarget[]): string {
  if (recovering.length === 0) return '';
  const shown = table(
    ['shard', 'partition', 'applied', 'of'],
    recovering.map(({ shard, partition, applied, target }) => [shard, partition, applied, target]),
  );
  return `Redis has lost events. Ranklog applies them again; reads are stale until then:\n\n${shown}`;
}

function boardsTable(boards: readonly BoardOverview[]): string {
  return table(
    ['board', 'views', 'maxViews', 'event clock', 'expired', 'duplicates'],
    boards.map(({ board, views, maxViews, clock, expired, duplicates }) => {
      return [board, views, maxViews, timeText(clock) ?? '-', expired, duplicates];
    }),
  );
}

function reconciliationsTable(statuses: readonly ReconciliationStatus[]): string {
  const rows = statuses.map((status) => {
    const { board, kind, state, done, total, rate, holder, outcome } = status;
    const { secondsLeft } = reconciliationJson(status);
    const percent = total === 0 ? '-' : `${Math.floor((100 * done) / total)} %`;
    const left = secondsLeft === null ? '' : `, about ${durationText(secondsLeft)} left`;
    const running = `${percent} of ${countText(total)} records, ${countText(rate)}/s${left}`;
    return [board, kind, state === 'running' ? running : state, holder, outcome ?? ''];
  });
  return table(['board', 'reconciliation', 'progress', 'by', ''], rows);
}
