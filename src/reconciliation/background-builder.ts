import type { BoardDefinition } from '#board';
import { LeaseHeldError, type BoardStore } from '#board-store';
import { Backoff, toError } from '#kafka-batch';
import { RecurringTask } from '../operations/recurring-task.js';
import { CancelledError, HistoryCutError, OutOfMemoryError } from './errors.js';
import type { Log } from './log.js';
import { phaseOf } from './phase.js';
import type { Reconciler } from './reconciler.js';
import type { RunProgress } from './run-progress.js';

const LOOK_EVERY_MS = 1_000;
const TELL_EVERY_MS = 10_000;
const BACKOFF = { firstMs: 1_000, mostMs: 60_000 };
/** Each try of a build that Redis has no room for fills it up, and live ingest stands still until that is given back. */
const FULL_MS = 600_000;

interface BuilderParts {
  readonly store: Pick<BoardStore, 'boards'>;
  readonly reconciler: Pick<Reconciler, 'build'>;
  /** The definitions that boards without a generation are built with. */
  readonly registrar: { readonly wanted: ReadonlyMap<string, BoardDefinition> };
  readonly log: Log;
}

/**
 * Builds the boards that are registered and wait for their first generation: those that were new in the boards file when
 * events had been applied already. Of several processes, one builds.
 *
 * States: made; looking, and building now and then (`start` to `stop`). What is built when it is stopped is kept, and gone
 * on with after the next start.
 */
export class BackgroundBuilder {
  readonly #stopping = new AbortController();
  readonly #backoff = new Backoff(BACKOFF);
  readonly #looks = new RecurringTask(() => this.#work(), LOOK_EVERY_MS);
  /** Nothing is tried before, after a failure. */
  #notBefore = -Infinity;
  /** The failure that was told last: it is not told every time. */
  #said: string | undefined;
  #told = -Infinity;

  constructor(private readonly parts: BuilderParts) {}

  start(): void {
    this.#looks.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#looks.stop();
  }

  async #work(): Promise<void> {
    if (performance.now() < this.#notBefore) return;
    try {
      await this.#build(await this.#waiting());
      this.#backoff.reset();
      this.#said = undefined;
    } catch (error) {
      if (error instanceof CancelledError) return;
      this.#notBefore = performance.now() + this.#msUntilNext(error);
      // Another process builds it, and tells.
      if (!(error instanceof LeaseHeldError)) this.#warn(toError(error).message + hint(error));
    }
  }

  async #waiting(): Promise<BoardDefinition[]> {
    const { store, registrar } = this.parts;
    const { building } = await store.boards();
    return [...building].flatMap((board) => registrar.wanted.get(board) ?? []);
  }

  async #build(definitions: readonly BoardDefinition[]): Promise<void> {
    if (definitions.length === 0) return;
    const { reconciler, log } = this.parts;
    const { signal } = this.#stopping;
    const names = definitions.map(({ board }) => `"${board}"`).join(', ');
    const onProgress = (progress: RunProgress) => this.#tell(names, progress);
    const options = { signal, keepsShadows: true, isFirst: true, onProgress };
    const reports = await reconciler.build(definitions, options);
    for (const { board, generation, records, seconds } of reports)
      log.info(
        `board "${board}" is live as generation ${generation}, built from ${records} records in ${seconds.toFixed(1)} s`,
      );
  }

  /** Where only people can help, they are not to find the board's lease taken when they do. */
  #msUntilNext(error: unknown): number {
    if (error instanceof OutOfMemoryError) return FULL_MS;
    return error instanceof HistoryCutError ? BACKOFF.mostMs : this.#backoff.next();
  }

  #tell(names: string, progress: RunProgress): void {
    const now = performance.now();
    if (now - this.#told < TELL_EVERY_MS) return;
    this.#told = now;
    const { secondsLeft } = progress;
    const { done, total, unit } = phaseOf(progress);
    const left = secondsLeft === null ? '' : `, about ${secondsLeft} s left`;
    this.parts.log.info(`building ${names} from the log: ${done} of ${total} ${unit}${left}`);
  }

  #warn(reason: string): void {
    if (reason !== this.#said) this.parts.log.warn(`boards can't be built now: ${reason}`);
    this.#said = reason;
  }
}

/** That a part of the log is enough, only people can say. */
function hint(error: unknown): string {
  return error instanceof HistoryCutError
    ? ': say so with "ranklog boards apply --allow-partial-history"'
    : '';
}
