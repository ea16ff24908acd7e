import { canClose, formatTime } from '#board';
import {
  ListingInterruptedError,
  UnknownBoardError,
  type LiveBoard,
  type PinnedBoard,
} from '#board-store';
import { offsetsAtTime } from '#kafka-batch';
import { readWindows } from './closed-views.js';
import { readPeriodRecords } from './period-log.js';
import type { PeriodServices } from './period-services.js';
import { periodsOf, type Clocks, type Period, type PeriodRecords } from './periods.js';

export interface ListedPeriod extends Period {
  /** What the period waits for in the states `waiting` and `review`; null in other states. */
  readonly waitsFor: string | null;
}

export interface BoardPeriods {
  readonly board: string;
  /** Whether Redis lacks events, or may lack some, so that periods may be missing. */
  readonly isStale: boolean;
  /** In the order of their ends. */
  readonly periods: readonly ListedPeriod[];
}

const MOST_ATTEMPTS = 3;

/**
 * The periods of the live boards that have closing windows.
 * Cost: without such boards, a request to each shard. Otherwise it reads the definitions topic and
 * lists all views of these boards. If a period waits: also some requests to Kafka, and to each
 * leader of the score topic.
 * @throws ListingInterruptedError, errors of Kafka and Redis
 */
export async function listPeriods(services: PeriodServices): Promise<BoardPeriods[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await readBoards(services);
    } catch (error) {
      const hasMoved =
        error instanceof ListingInterruptedError || error instanceof UnknownBoardError;
      if (!hasMoved || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}

async function readBoards(services: PeriodServices): Promise<BoardPeriods[]> {
  const { live } = await services.stores.store.boards();
  const closing = [...live.values()].filter(({ definition }) => canClose(definition));
  if (closing.length === 0) return [];

  const clocks = { now: await services.now(), toleranceMs: services.toleranceMs };
  const records = await readPeriodRecords(services.connection);
  const boards: ReadBoard[] = [];
  for (const name of closing.map(({ board }) => board).sort())
    boards.push(await readBoard(await services.stores.pinned(name), records, clocks));

  const reason = await reasonToWait(services, boards);
  return boards.map(({ live: { board }, isStale, periods }) => {
    const facts = { isStale, reason };
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
  board: PinnedBoard,
  records: PeriodRecords,
  clocks: Clocks,
): Promise<ReadBoard> {
  const known = await readWindows(board);
  const periods = periodsOf(known, records, clocks);
  return { live: board.live, isStale: known.isStale, periods };
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

/** Why the announcer can't announce the closed windows now; undefined if it can. */
async function reasonToWait(
  services: PeriodServices,
  boards: readonly ReadBoard[],
): Promise<string | undefined> {
  const isWaiting = ({ state, isFinal }: Period) => state === 'waiting' && isFinal;
  const waiting = boards.filter(({ periods }) => periods.some(isWaiting));
  const closed = waiting.flatMap(({ periods }) => periods.filter(isWaiting));
  if (closed.length === 0) return undefined;

  const { admin, topics } = services.connection;
  const lastAt = Math.max(...closed.map(({ finalAt }) => finalAt));
  const ends = await offsetsAtTime(admin, topics.scoreEvents, lastAt);
  const live = waiting.map((board) => board.live);
  return services.logEnds.missing(ends, live);
}

interface WaitFacts {
  readonly isStale: boolean;
  readonly reason: string | undefined;
}

function waitsFor(period: Period, { isStale, reason }: WaitFacts): string | null {
  const { board, window, state, isFinal, reviewEndsAt, record } = period;
  if (state === 'review')
    return reviewEndsAt === null
      ? `"ranklog periods announce ${board} ${window}"`
      : `the end of the review at ${formatTime(reviewEndsAt)}`;
  if (state !== 'waiting') return null;
  if (!isFinal) return clocksText(period);
  if (record?.problem !== undefined) return record.problem;
  if (isStale) return 'lost events of Redis, until they are applied again';
  return reason ?? 'the role reconciliation';
}

/** What a window waits for just after it has closed. */
export function clocksText({ finalAt }: Pick<Period, 'finalAt'>): string {
  return `the clocks of the brokers, until ${formatTime(finalAt)}`;
}
