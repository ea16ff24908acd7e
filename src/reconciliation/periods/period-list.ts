import { formatTime } from '#board';
import { ListingInterruptedError, UnknownBoardError, type LiveBoard } from '#board-store';
import { isUnauthorized, offsetsAtTime } from '#kafka-batch';
import { closingBoards } from '../../infra/topics.js';
import { lookAtStaleBoard } from './closed-views.js';
import { ScoreLogEnds } from './log-end.js';
import { readPeriodRecords, type PeriodRecords } from './period-log.js';
import type { PeriodServices } from './period-services.js';
import { hasClosed, periodsOf, type Period } from './periods.js';

export interface ListedPeriod extends Period {
  /** For what one that is `waiting` or in `review` waits; null in other states. */
  readonly waitsFor: string | null;
}

export interface BoardPeriods {
  readonly board: string;
  /** Whether Redis lacks events, or may: then periods may be missing. */
  readonly isStale: boolean;
  /** In the order of their ends. */
  readonly periods: readonly ListedPeriod[];
}

const MOST_ATTEMPTS = 3;

/**
 * The periods of the live boards that have closing windows. Cost: without such boards a request to
 * each shard; else it reads the definitions topic and lists all views of these boards. If a period
 * waits: some requests to Kafka, and to each leader of the score topic.
 * @throws ListingInterruptedError, MalformedRecordError, errors of Kafka and Redis
 */
export async function listPeriods(services: PeriodServices): Promise<BoardPeriods[]> {
  for (let attempt = 1; ; attempt++)
    try {
      return await readBoards(services);
    } catch (error) {
      const isMoved =
        error instanceof ListingInterruptedError || error instanceof UnknownBoardError;
      if (!isMoved || attempt === MOST_ATTEMPTS) throw error;
    }
}

async function readBoards(services: PeriodServices): Promise<BoardPeriods[]> {
  const { live } = await services.stores.store.boards();
  const names = closingBoards([...live.values()].map(({ definition }) => definition)).sort();
  if (names.length === 0) return [];
  const now = await services.now();
  const records = await readPeriodRecords(services.connection);
  const boards: ReadBoard[] = [];
  for (const name of names) boards.push(await readBoard(services, name, { records, now }));
  const reason = await reasonToWait(services, boards, now);
  return boards.map(({ live: { board }, isStale, periods }) => {
    const facts = { now, isStale, reason };
    const listed = periods.map((period) => ({ ...period, waitsFor: waitsFor(period, facts) }));
    return { board, isStale, periods: listed };
  });
}

interface ReadBoard {
  readonly live: LiveBoard;
  readonly isStale: boolean;
  readonly periods: readonly Period[];
}

async function readBoard(
  { stores, toleranceMs }: PeriodServices,
  name: string,
  { records, now }: { readonly records: PeriodRecords; readonly now: number },
): Promise<ReadBoard> {
  const { board, isStale, ...known } = await lookAtStaleBoard(await stores.pinned(name));
  const periods = periodsOf(
    { ...known, records: records.get(name) ?? new Map() },
    now,
    toleranceMs,
  );
  return { live: board.live, isStale, periods };
}

/** A period in JSON. Times are RFC 3339. */
export function periodJson(period: ListedPeriod) {
  const { window, state, revision, start, end, closesAt, reviewEndsAt, waitsFor } = period;
  return {
    window,
    state,
    revision,
    start: formatTime(start),
    end: formatTime(end),
    closesAt: formatTime(closesAt),
    reviewEndsAt: reviewEndsAt === null ? null : formatTime(reviewEndsAt),
    waitsFor,
  };
}

/**
 * Why the announcer waits with all periods that have closed: it notes the ends of the log once for
 * all of them.
 */
async function reasonToWait(
  services: PeriodServices,
  boards: readonly ReadBoard[],
  now: number,
): Promise<string | undefined> {
  const waits = (period: Period) => period.state === 'waiting' && hasClosed(period, now);
  const waiting = boards.filter(({ periods }) => periods.some(waits));
  const closed = waiting.flatMap(({ periods }) => periods.filter(waits));
  if (closed.length === 0) return undefined;
  const { admin, topics } = services.connection;
  const lastAt = Math.max(...closed.map(({ finalAt }) => finalAt));
  const ends = await offsetsAtTime(admin, topics.scoreEvents, lastAt);
  const live = waiting.map((board) => board.live);
  return missingBelow(services, ends, live);
}

async function missingBelow(
  { connection, identity, stores }: PeriodServices,
  ends: ReadonlyMap<number, number>,
  boards: readonly LiveBoard[],
): Promise<string | undefined> {
  const log = new ScoreLogEnds(connection, identity.group, stores.store);
  try {
    return await log.missing(ends, boards);
  } catch (error) {
    // Only the role ingest needs the right to read all results.
    if (!isUnauthorized(error)) throw error;
    return `records of ${connection.topics.scoreEvents} that may not be published yet`;
  }
}

interface WaitFacts {
  readonly now: number;
  readonly isStale: boolean;
  readonly reason: string | undefined;
}

function waitsFor(period: Period, { now, isStale, reason }: WaitFacts): string | null {
  const { board, window, state, reviewEndsAt } = period;
  if (state === 'review')
    return reviewEndsAt === null
      ? `"ranklog periods announce ${board} ${window}"`
      : `the end of the review at ${formatTime(reviewEndsAt)}`;
  if (state !== 'waiting') return null;
  if (!hasClosed(period, now)) return clocksText(period);
  if (isStale) return 'lost events of Redis, until they are applied again';
  return reason ?? 'the role reconciliation';
}

/** For what a window waits just after it has closed. */
export function clocksText({ finalAt }: Pick<Period, 'finalAt'>): string {
  return `the clocks of the brokers, until ${formatTime(finalAt)}`;
}
