import { isOutOfMemory, type Lease, type Shadow } from '#board-store';
import { LogGapError, toError } from '#kafka-batch';
import type { CatchUp } from './catch-up.js';
import type { Attempt } from './leased-run.js';
import type { ReconcilerParts, RunOptions } from './reconciler-parts.js';
import { ProgressTeller } from './run-progress.js';
import type { OpenPlanned } from './shadow-plan.js';
import { ShadowRun, type Job } from './shadow-run.js';

/** A shadow of a task, on its way through the log. */
export interface ShadowAtWork {
  readonly lease: Lease;
  readonly shadow: Shadow;
  readonly catchUp: CatchUp;
  readonly progress: ProgressTeller;
  /** Tells what it came to, and lets go of the board. */
  readonly end: (outcome: string) => Promise<void>;
}

/** What is done with the shadow of one board. */
export interface Task<T> {
  readonly board: string;
  readonly open: OpenPlanned;
  /** Whether what was built is worth going on with after a failure. */
  readonly isResumable: boolean;
  readonly finish: (at: ShadowAtWork) => Promise<T>;
}

/** Opens the shadows of all tasks, and does them in one pass over the log. After a failure, what can't be gone on with is let go. */
export class ShadowTasks {
  /** Shadows that are not finished. */
  readonly #open = new Map<Shadow, { readonly lease: Lease; readonly isResumable: boolean }>();
  readonly #progress: ProgressTeller;

  constructor(
    private readonly parts: ReconcilerParts,
    private readonly attempt: Attempt,
    private readonly options: RunOptions,
  ) {
    this.#progress = new ProgressTeller(attempt.keeper, options.onProgress);
  }

  async run<T>(tasks: readonly Task<T>[]): Promise<T[]> {
    try {
      const jobs: Job<T>[] = [];
      for (const task of tasks) jobs.push(await this.#job(task));
      const { signal } = this.attempt;
      const { eventsPerSecond = this.parts.eventsPerSecond } = this.options;
      const onCount: ProgressTeller['count'] = (...counts) => this.#progress.count(...counts);
      const run = new ShadowRun(this.parts, { signal, eventsPerSecond, onCount });
      return await run.run(jobs);
    } catch (error) {
      await this.#letGo(error);
      throw error;
    }
  }

  async #job<T>({ board, open, isResumable, finish }: Task<T>): Promise<Job<T>> {
    const { keeper, signal } = this.attempt;
    signal.throwIfAborted();
    const lease = keeper.lease(board);
    const opened = await open(lease);
    const { shadow } = opened;
    this.#open.set(shadow, { lease, isResumable });
    keeper.note(board, { generation: shadow.generation });
    return {
      lease,
      open: opened,
      finish: async (catchUp) => {
        const end = async (outcome: string) => {
          this.#progress.count(board, catchUp.counts);
          await keeper.end(board, 'done', outcome);
        };
        const result = await finish({ lease, shadow, catchUp, progress: this.#progress, end });
        this.#open.delete(shadow);
        return result;
      },
    };
  }

  /** What fills Redis up keeps live ingest from applying anything: it is not left for the next run. */
  async #letGo(error: unknown): Promise<void> {
    const { signal, keepsShadows = false } = this.options;
    const isHopeless = error instanceof LogGapError || isOutOfMemory(error);
    const isOver = (signal.aborted && !keepsShadows) || isHopeless;
    for (const [shadow, { lease, isResumable }] of this.#open)
      if (isOver || !isResumable) await this.#abandon(lease, shadow);
  }

  /** Whoever has the lease next lets it go, if this fails. */
  async #abandon(lease: Lease, shadow: Shadow): Promise<void> {
    try {
      await this.parts.generations.abandon(lease, shadow);
    } catch (error) {
      const { board, generation } = shadow;
      this.parts.logger.warn(
        `generation ${generation} of board "${board}" can't be let go now: ${toError(error).message}`,
      );
    }
  }
}
