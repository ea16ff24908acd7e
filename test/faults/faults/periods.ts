import { PERIODS_LEASE } from '../../../src/reconciliation/periods/period-services.js';
import { eventually } from '../../support/eventually.js';
import { KAFKA_API } from '../../support/kafka-frames.js';
import type { KafkaAction } from '../../support/kafka-proxy.js';
import { GRACE_MS, REVIEW_MS, ROUND } from '../boards.js';
import { pick, type Random } from '../random.js';
import type { RanklogCommand } from '../world/ranklog-command.js';
import { announced } from '../world/read-facts.js';
import type { Worker } from '../world/worker.js';
import type { World } from '../world/world.js';
import { expireLeases } from './build-under-way.js';
import type { Fault } from './fault.js';
import { restartEmpty } from './servers.js';
import { addWorker, ensureTwo, killWorker } from './workers.js';

/** Faults of the announcements of closed windows under load. */

const BOARD = 'blitz';

/** Waits until a request of an announcement gets a fault; returns the worker that sent it. */
async function announcerWith(world: World, apiKey: number, action: KafkaAction): Promise<Worker> {
  const transactionalId = `${world.name}-periods`;
  const when = ({ body }: { readonly body: Buffer }) => body.includes(transactionalId);
  const armed = world.running.map((worker) => ({
    worker,
    fault: worker.kafka.onRequest(apiKey, action, { when }),
  }));
  const hit = () => armed.find(({ fault }) => fault.isDone)?.worker;
  await eventually(() => hit() !== undefined, 'a worker announces results');
  for (const { worker } of armed) worker.kafka.clearFaults();
  const worker = hit();
  if (worker === undefined) throw new Error('no worker announces results');
  return worker;
}

/** Waits until the results of a window are announced that ended at this time (ms) or later. */
async function announcedSince(world: World, time: number): Promise<void> {
  await eventually(async () => {
    const windows = [...(await announced(world, BOARD)).keys()];
    return windows.some((window) => endOf(window) >= time);
  }, 'results of a later window are announced');
}

function endOf(window: string): number {
  return Date.parse(window.slice(`${ROUND.name}@`.length)) + ROUND.ms;
}

async function killAnnouncer(world: World, random: Random): Promise<void> {
  const [action, when] = pick(random, [
    ['hangBefore', 'before its commit'],
    ['hangAfter', 'before the response to its commit'],
  ] as const);
  const victim = await announcerWith(world, KAFKA_API.endTxn, action);
  await killWorker(world, victim);
  world.did('announcers killed', `that was while it announced results, ${when}`);
  await expireLeases(world, [PERIODS_LEASE]);
  await addWorker(world);
}

/**
 * How long the commit of a frozen announcer is on its way: longer than another one takes to
 * announce.
 */
const FROZEN_MS = 8_000;
/** The same for a slow announcer, which must not renew its lease before that. */
const SLOW_MS = 2_700;

/**
 * Freezes an announcer before its commit, or delays the request by which it fences others; its
 * lease expires, another one announces, and then the request arrives.
 */
async function freezeAnnouncer(world: World, random: Random): Promise<void> {
  await ensureTwo(world);
  const isFrozen = random() < 0.5;
  const [api, delayMs, what] = isFrozen
    ? ([KAFKA_API.endTxn, FROZEN_MS, 'frozen before its commit'] as const)
    : ([KAFKA_API.initProducerId, SLOW_MS, 'slow to fence others'] as const);
  const victim = await announcerWith(world, api, { delayMs });
  const arrives = Date.now() + delayMs;
  if (isFrozen) victim.pause();
  world.note(`worker ${victim.name}, which announces results, is ${what}`);
  const last = Math.max(...[...(await announced(world, BOARD)).keys()].map(endOf));
  await expireLeases(world, [PERIODS_LEASE]);
  await announcedSince(world, last + 1);
  const isInTime = Date.now() < arrives;
  if (isFrozen) victim.resume();
  await eventually(() => Date.now() > arrives, 'the request of the announcer has arrived');
  const who = isInTime ? 'another one had announced' : 'no other one was faster';
  world.did('announcers frozen', `the request of ${victim.name} has arrived: ${who}`);
}

/** Longer than the announcer waits between two turns. */
const TURN_MS = 3_000;

/**
 * Keeps a worker from applying the last records of a round until another one wants to announce it.
 */
async function lagBehindReview(world: World, random: Random): Promise<void> {
  await ensureTwo(world);
  const victim = pick(random, world.running);
  await victim.publishes();
  const end = Date.now() + ROUND.ms - (Date.now() % ROUND.ms);
  victim.redis.freeze();
  try {
    const isDue = () => Date.now() > end + GRACE_MS + REVIEW_MS + TURN_MS;
    await eventually(isDue, 'the review of a round is over');
  } finally {
    victim.redis.thaw();
  }
  await announcedSince(world, end);
  world.did('lags behind a review', `${victim.name} applied records after the review of a round`);
}

/** Redis restarts empty while a window is in review. */
async function loseBeforeAnnouncement(world: World): Promise<void> {
  const sinceEnd = () => Date.now() % ROUND.ms;
  await eventually(
    () => sinceEnd() > GRACE_MS && sinceEnd() < GRACE_MS + REVIEW_MS / 2,
    'a window is in review',
  );
  const end = Date.now() - (Date.now() % ROUND.ms);
  await restartEmpty(world);
  await announcedSince(world, end);
  world.did('losses before an announcement', 'a window in review was announced after the loss');
}

/**
 * At most how many times a command is started: it ends if it has to wait for ingest, or if reads
 * are stale.
 */
const MAX_STARTS = 20;
const TRY_AGAIN: readonly unknown[] = [3, 5];

/** Waits until an announcement has succeeded; returns its revision. @throws if it fails */
async function revisionOf(world: World, first: RanklogCommand): Promise<number> {
  let command = first;
  for (let starts = 1; starts < MAX_STARTS; starts++) {
    if (!TRY_AGAIN.includes(await command.exitCode())) break;
    command = world.repeat(command);
  }
  const { revision } = JSON.parse(await command.output()) as { revision: number };
  return revision;
}

/** Announces the last window again, by two commands at once. */
async function announceAgain(world: World): Promise<void> {
  await eventually(async () => (await announced(world, BOARD)).size > 0, 'results are announced');
  const [window = '', revision = 0] = [...(await announced(world, BOARD))].at(-1) ?? [];
  const commands = [1, 2].map(() => world.announceAgain(BOARD, window));
  const revisions = await Promise.all(commands.map((command) => revisionOf(world, command)));
  revisions.sort((a, b) => a - b);
  if (revisions.join() !== `${revision + 1},${revision + 2}`)
    throw new Error(`${window} was announced in revision ${revision}, then ${revisions.join()}`);
  world.did('windows announced again', `${window} was announced again, twice`);
}

export const PERIOD_FAULTS: readonly Fault[] = [
  { name: 'kill-announcer', announces: true, run: killAnnouncer },
  { name: 'freeze-announcer', announces: true, run: freezeAnnouncer },
  { name: 'lag-behind-review', announces: true, redis: ['single'], run: lagBehindReview },
  { name: 'lose-before-announcement', announces: true, run: loseBeforeAnnouncement },
  { name: 'announce-again', announces: true, run: announceAgain },
];
