import { setTimeout as delay } from 'node:timers/promises';
import { HOLDER, isOutOfMemory, LeaseLostError, type ReconciliationStatus } from '#board-store';
import { Backoff, LogGapError, toError } from '#kafka-batch';
import type { Logger } from '../infra/logger.js';
import { RestartPolicy } from './restart-policy.js';
import { CancelledError, HistoryCutError, OutOfMemoryError } from './errors.js';
import { LeaseKeeper } from './lease-keeper.js';
import type { BoardStore, LeaseStore } from '#board-store';

/** Redis that was emptied gets its boards back within seconds. */
const BACKOFF = { firstMs: 500, mostMs: 5_000 };

interface LeasedRunParts {
  readonly store: Pick<BoardStore, 'memory'>;
  readonly leases: LeaseStore;
  readonly kind: ReconciliationStatus['kind'];
  /** Asked for each attempt: those that are still to be worked on. */
  readonly boards: () => readonly string[];
  readonly signal: AbortSignal;
  /** What was built stays when the signal is aborted. */
  readonly keepsShadows: boolean;
  readonly logger: Logger;
}

/** One attempt of a run: its leases, and what ends it. */
export interface Attempt {
  readonly keeper: LeaseKeeper;
  readonly signal: AbortSignal;
}

/**
 * Does work on boards while it holds their leases. When Redis has lost what the work rests on, the work begins again.
 * @throws LeaseHeldError, CancelledError, HistoryCutError, OutOfMemoryError, and whatever the work fails with
 */
export async function runLeased<T>(
  parts: LeasedRunParts,
  work: (attempt: Attempt) => Promise<T>,
): Promise<T> {
  const backoff = new Backoff(BACKOFF);
  const again = new RestartPolicy(parts.kind);
  const { signal, logger } = parts;
  for (;;)
    try {
      return await attemptOnce(parts, work);
    } catch (error) {
      if (signal.aborted) throw new CancelledError(parts.keepsShadows);
      if (!again.helps(error)) throw error;
      logger.warn(`${toError(error).message}; it begins again`);
      await delay(backoff.next(), undefined, { signal }).catch(() => undefined);
    }
}

async function attemptOnce<T>(
  parts: LeasedRunParts,
  work: (attempt: Attempt) => Promise<T>,
): Promise<T> {
  const { leases, signal, keepsShadows } = parts;
  const boards = parts.boards();
  const keeper = await acquire(boards, parts);
  try {
    return await work({ keeper, signal: AbortSignal.any([signal, keeper.signal]) });
  } catch (error) {
    const cause = await orTakenOver(error, { leases, keeper });
    const failure = signal.aborted
      ? new CancelledError(keepsShadows)
      : await told(cause, boards, parts);
    const state = signal.aborted ? 'cancelled' : 'failed';
    for (const board of boards) await keeper.end(board, state, failure.message);
    throw failure;
  } finally {
    await keeper.close();
  }
}

/** Who stood still for longer than a lease lasts does not do again what somebody else has gone on with, or done otherwise. */
async function orTakenOver(
  error: unknown,
  { leases, keeper }: { readonly leases: LeaseStore; readonly keeper: LeaseKeeper },
): Promise<unknown> {
  if (!(error instanceof LeaseLostError) || !keeper.mayHaveRunOut(error.board)) return error;
  const { board } = error;
  const statuses = await leases.statuses().catch(() => []);
  const holder = statuses.find((status) => status.board === board)?.holder ?? HOLDER;
  return holder === HOLDER ? error : new LeaseLostError(board, holder);
}

/** A Redis that is full refuses new leases, too. */
async function acquire(boards: readonly string[], parts: LeasedRunParts): Promise<LeaseKeeper> {
  try {
    return await LeaseKeeper.acquire(boards, parts);
  } catch (error) {
    throw await told(error, boards, parts);
  }
}

/** The history of the log may be cut while it is read, and Redis may be full. */
async function told(
  error: unknown,
  boards: readonly string[],
  { store }: LeasedRunParts,
): Promise<Error> {
  if (isOutOfMemory(error))
    return new OutOfMemoryError(boards, await store.memory().catch(() => undefined));
  if (!(error instanceof LogGapError)) return toError(error);
  const { partition, expected, log } = error;
  const cut = [{ partition, from: expected, logStart: log.start }];
  return new HistoryCutError(boards, cut, true);
}
