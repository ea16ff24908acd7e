import type { BoardDefinition } from '#board';
import { LeaseHeldError, type BoardStore } from '#board-store';
import { Backoff, toError } from '#kafka-batch';
import type { Logger } from '../infra/logger.js';
import { CancelledError, HistoryCutError, OutOfMemoryError } from '../generations/errors.js';
import type { Reconciler } from './reconciler.js';
import type { RunProgress } from '../generations/progress.js';

const TELL_EVERY_MS = 10_000;
const BACKOFF = { firstMs: 1_000, mostMs: 60_000 };
/** A build that Redis has no room for fills it up, and blocks live ingest until that memory is freed. */
const FULL_MS = 600_000;

interface BuilderParts {
  readonly store: Pick<BoardStore, 'boards'>;
  readonly reconciler: Pick<Reconciler, 'build'>;
  /** The definitions of boards without a generation. */
  readonly registrar: { readonly wanted: ReadonlyMap<string, BoardDefinition> };
  readonly log: Logger;
}

/**
 * Builds registered boards that have no generation yet: boards that were added to the file after events had been applied.
 * Of several processes, one builds.
 */
export class BackgroundBuilder {
  readonly #backoff = new Backoff(BACKOFF);
  /** When the next try is due after a failure. */
  #notBefore = -Infinity;
  /** The last failure, until a build succeeds. */
  #failure: Error | undefined;
  #told = -Infinity;

  constructor(private readonly parts: BuilderParts) {}

  /**
   * Builds the boards that wait now. When the signal is aborted, what is built so far is kept for the next call.
   * @throws the last failure, also while the next try is not due yet
   */
  async build(signal: AbortSignal): Promise<void> {
    if (performance.now() >= this.#notBefore) await this.#try(signal);
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #try(signal: AbortSignal): Promise<void> {
    try {
      await this.#build(await this.#waiting(), signal);
      this.#backoff.reset();
      this.#failure = undefined;
    } catch (error) {
      if (error instanceof CancelledError) return;
      this.#notBefore = performance.now() + this.#msUntilNext(error);
      // A board whose lease is held is built by another process, which logs its failures itself.
      if (!(error instanceof LeaseHeldError)) this.#failure = withHint(error);
    }
  }

  async #waiting(): Promise<BoardDefinition[]> {
    const { store, registrar } = this.parts;
    const { building } = await store.boards();
    return [...building].flatMap((board) => registrar.wanted.get(board) ?? []);
  }

  async #build(definitions: readonly BoardDefinition[], signal: AbortSignal): Promise<void> {
    if (definitions.length === 0) return;
    const { reconciler, log } = this.parts;
    const names = definitions.map(({ board }) => `"${board}"`).join(', ');
    const onProgress = (progress: RunProgress) => this.#tell(names, progress);
    const options = { signal, keepsShadows: true, isFirst: true, onProgress };
    const reports = await reconciler.build(definitions, options);
    for (const { board, generation, records, seconds } of reports)
      log.info(
        `board "${board}" is live as generation ${generation}, built from ${records} records in ${seconds.toFixed(1)} s`,
      );
  }

  /** Waits long after a failure that only an operator can resolve, whose command needs the lease of the board. */
  #msUntilNext(error: unknown): number {
    if (error instanceof OutOfMemoryError) return FULL_MS;
    return error instanceof HistoryCutError ? BACKOFF.mostMs : this.#backoff.next();
  }

  #tell(names: string, progress: RunProgress): void {
    const now = performance.now();
    if (now - this.#told < TELL_EVERY_MS) return;
    this.#told = now;
    const { done, total, secondsLeft } = progress;
    const left = secondsLeft === null ? '' : `, about ${secondsLeft} s left`;
    this.parts.log.info(`building ${names} from the log: ${done} of ${total} records${left}`);
  }
}

/** Only an operator can accept a partial history. */
function withHint(error: unknown): Error {
  if (!(error instanceof HistoryCutError)) return toError(error);
  const hint = 'say so with "ranklog boards apply --allow-partial-history"';
  return new Error(`${error.message}: ${hint}`, { cause: error });
}
