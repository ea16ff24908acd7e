import { Injectable } from '@nestjs/common';
import { BoardStore, LeaseHeldError } from '#board-store';
import { toError } from '#errors';
import { Backoff } from '#kafka-batch';
import { Logger } from '../infra/logger.js';
import { BoardRegistrar } from './boards/board-registrar.js';
import { Reconciler } from './reconciler.js';
import type { RunProgress } from './runs/progress.js';
import { CancelledError, HistoryCutError, OutOfMemoryError } from './runs/run-errors.js';

const LOG_EVERY_MS = 10_000;
const BACKOFF = { firstMs: 1_000, maxMs: 60_000 };
/**
 * The wait after a build that filled Redis: a full Redis blocks live ingest until memory is freed.
 */
const FULL_MS = 600_000;

/**
 * Builds registered boards that have no generation: they were added after events had been applied.
 * Only the holder of a board's lease builds it.
 */
@Injectable()
export class BackgroundBuilder {
  readonly #backoff = new Backoff(BACKOFF);
  #notBefore = -Infinity;
  /** The last failure, until a build succeeds. */
  #failure: Error | undefined;
  #loggedAt = -Infinity;

  constructor(
    private readonly store: BoardStore,
    private readonly registrar: BoardRegistrar,
    private readonly reconciler: Reconciler,
    private readonly logger: Logger,
  ) {}

  /**
   * Builds the boards that wait for a build. An abort keeps partial builds.
   * @throws the last failure, also while the next try is not due yet
   */
  async build(signal: AbortSignal): Promise<void> {
    if (performance.now() >= this.#notBefore) await this.#try(signal);
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #try(signal: AbortSignal): Promise<void> {
    try {
      await this.#buildWaiting(signal);
      this.#backoff.reset();
      this.#failure = undefined;
    } catch (error) {
      if (error instanceof CancelledError) return;
      this.#notBefore = performance.now() + this.#waitMsAfter(error);
      // The holder of the lease builds the board, and logs its failures itself.
      if (!(error instanceof LeaseHeldError)) this.#failure = withHint(error);
    }
  }

  async #buildWaiting(signal: AbortSignal): Promise<void> {
    const { building } = await this.store.boards();
    const definitions = [...building].flatMap((board) => this.registrar.wanted.get(board) ?? []);
    if (definitions.length === 0) return;

    const names = definitions.map(({ board }) => `"${board}"`).join(', ');
    const onProgress = (progress: RunProgress) => this.#logProgress(names, progress);
    const options = { signal, keepsShadows: true, skipsLive: true, onProgress };
    const reports = await this.reconciler.build(definitions, options);
    for (const { board, generation, records, seconds } of reports)
      this.logger.info(
        `board "${board}" is live as generation ${generation}, built from ${records} records ` +
          `in ${seconds.toFixed(1)} s`,
      );
  }

  /**
   * How long to wait after a failure. The wait is long if only an operator can resolve the failure:
   * the command of the operator needs the lease of the board.
   */
  #waitMsAfter(error: unknown): number {
    if (error instanceof OutOfMemoryError) return FULL_MS;
    return error instanceof HistoryCutError ? BACKOFF.maxMs : this.#backoff.next();
  }

  #logProgress(names: string, { done, total, secondsLeft }: RunProgress): void {
    const now = performance.now();
    if (now - this.#loggedAt < LOG_EVERY_MS) return;

    this.#loggedAt = now;
    const left = secondsLeft === null ? '' : `, about ${secondsLeft} s left`;
    this.logger.info(`building ${names} from the log: ${done} of ${total} records${left}`);
  }
}

/** Adds the command with which an operator accepts a partial history. */
function withHint(error: unknown): Error {
  if (!(error instanceof HistoryCutError)) return toError(error);
  const hint = 'to build without these events, run "ranklog boards apply --allow-partial-history"';
  return new Error(`${error.message}; ${hint}`, { cause: error });
}
