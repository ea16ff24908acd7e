import { setTimeout as delay } from 'node:timers/promises';
import { canClose } from '#board';
import { committedOffsets } from '#kafka-batch';
import { passOverSkipped } from '../../infra/skipped-batches.js';
import { readIdentity } from '../../infra/identity.js';
import { closingProblems, requireTopics } from '../../infra/topics.js';
import { isRedisUnavailable } from '../../infra/redis.js';
import { storedShards, Stores, type AnsweringStores } from '../../infra/stores.js';
import { KeptSample } from '../../query/status/kept-sample.js';
import {
  LogSamples,
  readLogStatus,
  readPositions,
  readPublished,
  readStatus,
  type Status,
} from '../../query/status/read-status.js';
import { misplacedText } from '../../query/status/sampled-records.js';
import { listPeriods } from '../../reconciliation/periods/period-list.js';
import { PeriodServices } from '../../reconciliation/periods/period-services.js';
import { openKafka, type KafkaSession } from '../sessions/kafka-session.js';
import { openRedisClient, type RedisClientSession } from '../sessions/session.js';
import { EXIT } from '../text/exit-codes.js';
import type { JsonOption } from '../text/options.js';
import { print, table } from '../text/output.js';
import { ProgressBar } from '../text/progress-bar.js';
import { countText, durationText, partialText } from '../text/value-text.js';

type StatusOptions = JsonOption & { readonly wait?: number };

export async function status(options: StatusOptions): Promise<number> {
  const { wait } = options;
  await using kafka = await openKafka();
  using client = await openRedisClient();
  const { admin, topics, settings } = kafka;
  const { redis } = client;
  await requireTopics(admin, [topics.scoreEvents, topics.deadLetters]);
  await passOverSkipped(kafka);
  const { group } = await readIdentity(redis, kafka, settings);
  const isDone = wait === undefined || (await waitFor(kafka, client, { group, seconds: wait }));
  // After the wait, in which Redis may be claimed.
  const answering = await openAnsweringStores(client);
  const { stores, waiting } = answering;
  const published = await readPublished(kafka, group, stores.status);
  const services = new PeriodServices(stores, kafka, { group }, settings);
  const samples = new LogSamples(kafka, new KeptSample(() => listPeriods(services)));
  const found = await readStatus(
    answering,
    readLogStatus(kafka, published, samples, waiting.length === 0),
  );
  print(found, options, toText);
  const live = await stores.status.live();
  const closing = live.filter(({ definition }) => canClose(definition)).map(({ board }) => board);
  for (const problem of await closingProblems(admin, topics, closing))
    process.stderr.write(`ranklog: ${problem}\n`);
  if (wait !== undefined && found.deadLetters.length > 0)
    process.stderr.write(`ranklog: ${deadLettersHead(found.deadLetters)}\n`);
  for (const { shard, slot, reason } of waiting)
    process.stderr.write(
      `ranklog: shard ${shard} (slot ${slot}) waits, so its boards and the closed windows ` +
        `are not shown: ${reason}\n`,
    );
  if (waiting.length > 0) return EXIT.unreachable;
  if (isDone) return EXIT.ok;
  process.stderr.write(`ranklog: not everything is published after ${wait} s\n`);
  return EXIT.no;
}

async function openAnsweringStores(session: RedisClientSession): Promise<AnsweringStores> {
  const { redis, settings } = session;
  // The number is in a slot of its own, whose node may be away while all shards answer.
  const shards = await storedShards(redis, settings).catch((error: unknown) => {
    if (redis.isCluster && isRedisUnavailable(error)) return settings.shards;
    throw error;
  });
  return new Stores(redis, { ...settings, shards }).answering();
}

/** Paragraphs on all that there is to see: no part of it is shown if it is empty. */
function toText(found: Status): string {
  const { partitions, boards, recovering, building, partialHistory, reconciliations } = found;
  const shown = reconciliations.filter(({ state }) => state === 'running' || state === 'failed');
  const waiting = building.filter((name) => shown.every(({ board }) => board !== name));
  return [
    toTable(partitions),
    ...stoppedTexts(partitions),
    lagText(partitions),
    boardsTable(boards),
    recoveringText(recovering),
    shown.length === 0 ? '' : reconciliationsTable(shown),
    waiting.length === 0
      ? ''
      : `not built yet, so not readable: ${waiting.join(', ')}; the role reconciliation or ` +
        '"ranklog boards apply" builds them',
    ...partialHistory.map(
      ({ board, startsAt }) =>
        `board ${board} lacks the beginning of the log: ${partialText(startsAt)}`,
    ),
    periodsText(found.periods),
    deadLettersText(found.deadLetters),
    misplacedText(found.misplaced),
  ]
    .filter(Boolean)
    .join('\n\n');
}

const POLL_MS = 200;

/**
 * Waits until every partition is applied and published up to the `committedEnd` that it has now.
 * Returns false when the time is up.
 */
async function waitFor(
  kafka: KafkaSession,
  client: RedisClientSession,
  { group, seconds }: { readonly group: string; readonly seconds: number },
): Promise<boolean> {
  const { admin, topics } = kafka;
  const before = await openAnsweringStores(client);
  const published = await readPublished(kafka, group, before.stores.status);
  const positions = await readPositions(kafka, published);
  const goal = sum(positions.map(({ committedEnd }) => committedEnd));
  const deadline = performance.now() + seconds * 1_000;
  using bar = new ProgressBar('events published', goal);
  for (;;) {
    // Again at each poll, because Redis may be claimed meanwhile.
    const { stores, waiting } = await openAnsweringStores(client);
    const [committed, applied] = await Promise.all([
      committedOffsets(admin, group, topics.scoreEvents),
      stores.status.nextOffsets(),
    ]);
    const reached = positions.map(({ partition, committedEnd, published }) => {
      // The group has no offset of what was published before it was deleted, but of all that is
      // published from now on.
      const position = Math.max(published, committed.get(partition) ?? 0);
      return Math.min(committedEnd, position, applied.get(partition) ?? 0);
    });
    bar.update(sum(reached));
    if (sum(reached) === goal && waiting.length === 0) return true;
    if (performance.now() >= deadline) return false;
    await delay(POLL_MS);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function toTable(positions: Status['partitions']): string {
  const rows = positions.map(({ partition, logEnd, applied, published, lag }) => {
    return [partition, logEnd, applied, published, lag];
  });
  return table(['partition', 'log end', 'applied', 'published', 'lag'], rows);
}

function stoppedTexts(positions: Status['partitions']): string[] {
  return positions.flatMap(({ partition, stopped }) =>
    stopped === null ? [] : `Partition ${partition} has stopped: ${stopped}`,
  );
}

/** Says where to see whether a partition has stopped, because only its own process knows. */
function lagText(positions: Status['partitions']): string {
  if (positions.every(({ lag }) => lag === 0)) return '';
  return (
    'If a lag does not shrink, the partition may have stopped: see /health/ready of its ' +
    'process, or the metric ranklog_partition_stopped.'
  );
}

function recoveringText(recovering: Status['recovering']): string {
  if (recovering.length === 0) return '';
  const shown = table(
    ['shard', 'partition', 'applied', 'of'],
    recovering.map(({ shard, partition, applied, target }) => [shard, partition, applied, target]),
  );
  return `Redis has lost events. Ranklog applies them again; reads are stale until then:\n\n${shown}`;
}

function boardsTable(boards: Status['boards']): string {
  const rows = boards.map(({ board, views, maxViews, clock, expired, duplicates }) => {
    return [board, views, maxViews, clock ?? '-', expired, duplicates];
  });
  return table(['board', 'views', 'maxViews', 'event clock', 'expired', 'duplicates'], rows);
}

function reconciliationsTable(reconciliations: Status['reconciliations']): string {
  const rows = reconciliations.map((reconciliation) => {
    const { board, kind, state, done, total, rate, holder, outcome, secondsLeft } = reconciliation;
    const percent = total === 0 ? '-' : `${Math.floor((100 * done) / total)} %`;
    const left = secondsLeft === null ? '' : `, about ${durationText(secondsLeft)} left`;
    const running = `${percent} of ${countText(total)} records, ${countText(rate)}/s${left}`;
    return [board, kind, state === 'running' ? running : state, holder, outcome ?? ''];
  });
  return table(['board', 'reconciliation', 'progress', 'by', ''], rows);
}

function periodsText(periods: Status['periods']): string {
  if (periods.length === 0) return '';
  const rows = periods.map(({ board, window, state, closesAt, reviewEndsAt, waitsFor }) => {
    return [board, window, state, closesAt, reviewEndsAt ?? 'by command', waitsFor ?? ''];
  });
  const shown = table(['board', 'window', 'state', 'closed', 'review ends', 'waits for'], rows);
  return (
    'Closed windows whose results are not announced; "ranklog periods list" shows all:\n\n' + shown
  );
}

function deadLettersHead(deadLetters: Status['deadLetters']): string {
  const count = sum(deadLetters.map((letters) => letters.count));
  const times = deadLetters.map(({ lastAt }) => lastAt).sort();
  return (
    `${count} recent dead letters, the last at ${times.at(-1)}; "ranklog dead-letters list" ` +
    'shows them'
  );
}

function deadLettersText(deadLetters: Status['deadLetters']): string {
  if (deadLetters.length === 0) return '';
  const rows = deadLetters.map(({ code, count, firstAt, lastAt }) => {
    return [code, count, firstAt, lastAt];
  });
  return `${deadLettersHead(deadLetters)}:\n\n${table(['code', 'number', 'first', 'last'], rows)}`;
}
