import { setTimeout as delay } from 'node:timers/promises';
import {
  BoardBuildingError,
  isOutOfMemory,
  LeaseLostError,
  UnknownBoardError,
  type BoardStore,
  type ReconciliationStatus,
} from '#board-store';
import { toError } from '#errors';
import { Backoff, LogGapError } from '#kafka-batch';
import type { Logger } from '../../infra/logger.js';
import { BoardsLostError, HistoryCutError, OutOfMemoryError, RestartError } from './run-errors.js';

/** How long Redis or Kafka may be unreachable, or boards may be missing after a loss of Redis. */
const RETRY_FOR_MS = 60_000;
const RETRY_BACKOFF = { firstMs: 50, maxMs: 2_000 };

/** How many attempts a reconciliation makes at most if each fails with a retriable error. */
const MOST_ATTEMPTS = 6;

/** The waits between attempts are short: an emptied Redis gets its boards back within seconds. */
const RESTART_BACKOFF = { firstMs: 500, maxMs: 5_000 };

/**
 * Repeats work that fails, for up to a minute; logs the first failure. `first`: the first try, if
 * the caller has started it already.
 * @throws LeaseLostError and the refusal of a full Redis, without a retry; the reason of the
 * signal; or the last failure
 */
export async function withRetries<T>(
  work: () => Promise<T>,
  { signal, logger }: { readonly signal: AbortSignal; readonly logger: Logger },
  first?: Promise<T>,
): Promise<T> {
  const backoff = new Backoff(RETRY_BACKOFF);
  let started = first;
  let failedAt: number | undefined;

  for (;;) {
    try {
      return await (started ?? work());
    } catch (error) {
      started = undefined;
      signal.throwIfAborted();
      if (error instanceof LeaseLostError || isOutOfMemory(error)) throw error;

      const now = performance.now();
      if (failedAt === undefined) {
        failedAt = now;
        logger.warn(`retrying after: ${toError(error).message}`);
      }
      if (now - failedAt > RETRY_FOR_MS) throw error;

      await delay(backoff.next(), undefined, { signal }).catch(() => undefined);
      signal.throwIfAborted();
    }
  }
}

/** Decides after each failed attempt whether and when a reconciliation begins again. */
export class RestartPolicy {
  readonly #backoff = new Backoff(RESTART_BACKOFF);
  #failures = 0;
  /** Since when (in ms, by `now`) all failures came from boards that Redis has lost. */
  #waitingSince: number | undefined;

  constructor(
    private readonly kind: ReconciliationStatus['kind'],
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * How many ms to wait before the next attempt; undefined if another attempt would not help. Call
   * it once for each failure.
   */
  waitAfter(error: unknown): number | undefined {
    return this.#mayBeginAgain(error) ? this.#backoff.next() : undefined;
  }

  #mayBeginAgain(error: unknown): boolean {
    if (this.#waitsForBoards(error)) {
      this.#waitingSince ??= this.now();
      return this.now() - this.#waitingSince <= RETRY_FOR_MS;
    }

    this.#waitingSince = undefined;
    this.#failures += 1;
    return this.#failures < MOST_ATTEMPTS && this.#isRetriable(error);
  }

  /**
   * Whether the error comes from lost boards, which the role reconciliation registers again within
   * seconds. A board that is unknown in the first attempt never existed; a board that is unknown in
   * a later attempt was lost.
   */
  #waitsForBoards(error: unknown): boolean {
    const isUnknown = error instanceof UnknownBoardError || error instanceof BoardBuildingError;
    const hasBegun = this.#failures > 0 || this.#waitingSince !== undefined;
    return error instanceof BoardsLostError || (isUnknown && hasBegun);
  }

  #isRetriable(error: unknown): boolean {
    if (error instanceof LeaseLostError) return error.takenOverBy === undefined;
    // The error may name boards that lack nothing; the next attempt finds out which lack events.
    if (error instanceof HistoryCutError) return this.kind === 'verify' && error.boards.length > 1;
    return error instanceof RestartError;
  }
}

/** Explains two errors to operators: Redis is full, and the log was cut during the run. */
export async function explainedError(
  error: unknown,
  boards: readonly string[],
  store: Pick<BoardStore, 'memory'>,
): Promise<Error> {
  if (isOutOfMemory(error)) {
    const memory = await store.memory().catch(() => undefined); // the message does without it
    return new OutOfMemoryError(boards, memory);
  }
  if (!(error instanceof LogGapError)) return toError(error);

  const { partition, expected, log } = error;
  const cut = { partition, from: expected, logStart: log.start };
  return new HistoryCutError(boards, [cut], true);
}
