import { setTimeout as delay } from 'node:timers/promises';
import {
  BoardBuildingError,
  isOutOfMemory,
  LeaseLostError,
  UnknownBoardError,
  type ReconciliationStatus,
} from '#board-store';
import { toError } from '#errors';
import { Backoff } from '#kafka-batch';
import type { Logger } from '../../infra/logger.js';
import { BoardsLostError, HistoryCutError, RestartError } from './run-errors.js';

/** How long Redis or Kafka may be unreachable, and boards missing after a loss of Redis. */
const RETRY_FOR_MS = 60_000;
const RETRY_BACKOFF = { firstMs: 50, maxMs: 2_000 };

/** How many attempts a reconciliation makes at most if each fails with a retriable error. */
const MOST_ATTEMPTS = 6;

/**
 * The waits between attempts are short, because an emptied Redis gets its boards back within
 * seconds.
 */
const RESTART_BACKOFF = { firstMs: 500, maxMs: 5_000 };

interface RetryOptions {
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** Decides after each failure of repeatable work whether to try again: for up to a minute. */
export class Retries {
  readonly #backoff = new Backoff(RETRY_BACKOFF);
  #failedAt: number | undefined;

  constructor(private readonly options: RetryOptions) {}

  /**
   * Waits before the next try. Logs the first failure.
   * @throws the reason of the signal; the failure itself if it is a LeaseLostError or the refusal
   * of a full Redis, or if the minute is over
   */
  async waitAfter(error: unknown): Promise<void> {
    const { signal, logger } = this.options;
    signal.throwIfAborted();
    if (error instanceof LeaseLostError || isOutOfMemory(error)) throw error;
    const now = performance.now();
    if (this.#failedAt === undefined) logger.warn(`retrying after: ${toError(error).message}`);
    this.#failedAt ??= now;
    if (now - this.#failedAt > RETRY_FOR_MS) throw error;
    await delay(this.#backoff.next(), undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
  }
}

/** Repeats work that fails, as `Retries` decides. @throws what `Retries` throws */
export async function withRetries<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const retries = new Retries(options);
  for (;;)
    try {
      return await work();
    } catch (error) {
      await retries.waitAfter(error);
    }
}

/** Decides after each failed attempt whether and when a reconciliation begins again. */
export class RestartPolicy {
  readonly #backoff = new Backoff(RESTART_BACKOFF);
  #failures = 0;
  /**
   * Since when the reconciliation has only waited for its boards to be registered again, as a value
   * of the clock `now`.
   */
  #waitingSince: number | undefined;

  constructor(
    private readonly kind: ReconciliationStatus['kind'],
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * How many ms to wait before the next attempt; undefined if it would not help. To be called once
   * for each failure.
   */
  waitAfter(error: unknown): number | undefined {
    return this.#helps(error) ? this.#backoff.next() : undefined;
  }

  /** Whether to begin again after this failure. */
  #helps(error: unknown): boolean {
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
