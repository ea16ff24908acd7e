import type { Admin, Kafka } from 'kafkajs';
import {
  isOutOfMemory,
  type BoardStore,
  type GenerationStore,
  type Lease,
  type LeaseStore,
  type ReconciliationStatus,
  type Shadow,
} from '#board-store';
import { LogGapError, toError } from '#kafka-batch';
import type { Logger } from '../infra/logger.js';
import type { CatchUp } from './catch-up.js';
import type { DefinitionsTopic } from '../registry/definitions-topic.js';
import { runLeased, type Attempt } from './leased-run.js';
import { ProgressReporter, type RunProgress } from './run-progress.js';
import type { OpenPlanned } from './shadow-plan.js';
import { ShadowRun, type Job } from './shadow-run.js';

/** What reconciliation works with. */
export interface ReconcilerParts {
  readonly kafka: Kafka;
  readonly admin: Admin;
  /** The score topic. */
  readonly topic: string;
  readonly store: BoardStore;
  readonly leases: LeaseStore;
  readonly generations: GenerationStore;
  readonly definitions: Pick<DefinitionsTopic, 'readAll' | 'write'>;
  /** How long a generation stays available for a rollback after another one has replaced it. */
  readonly graceMs: number;
  /** Records per second, for runs that set no limit of their own. */
  readonly eventsPerSecond?: number | undefined;
  readonly logger: Logger;
}

export interface RunOptions {
  /** Cancels the run and undoes what it did. */
  readonly signal: AbortSignal;
  /** Keeps what was built when the signal is aborted, so that the next run can continue it. */
  readonly keepsShadows?: boolean | undefined;
  /** The most records of the log to read per second, so that live ingest is not slowed down. */
  readonly eventsPerSecond?: number | undefined;
  /** Called twice a second. */
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
}

/** A shadow of a task, on its way through the log. */
export interface ShadowAtWork {
  readonly lease: Lease;
  readonly shadow: Shadow;
  readonly catchUp: CatchUp;
  readonly progress: ProgressReporter;
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
  readonly #progress: ProgressReporter;

  constructor(
    private readonly parts: ReconcilerParts,
    private readonly attempt: Attempt,
    private readonly options: RunOptions,
  ) {
    this.#progress = new ProgressReporter(attempt.keeper, options.onProgress);
  }

  async run<T>(tasks: readonly Task<T>[]): Promise<T[]> {
    try {
      const jobs: Job<T>[] = [];
      for (const task of tasks) jobs.push(await this.#job(task));
      const { signal } = this.attempt;
      const { eventsPerSecond = this.parts.eventsPerSecond } = this.options;
      const onCount: ProgressReporter['count'] = (...counts) => this.#progress.count(...counts);
      const run = new ShadowRun(this.parts, { signal, eventsPerSecond, onCount });
      return await run.run(jobs);
    } catch (error) {
      await this.#discardUnfinished(error);
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
  async #discardUnfinished(error: unknown): Promise<void> {
    const { signal, keepsShadows = false } = this.options;
    const isHopeless = error instanceof LogGapError || isOutOfMemory(error);
    const isOver = (signal.aborted && !keepsShadows) || isHopeless;
    for (const [shadow, { lease, isResumable }] of this.#open)
      if (isOver || !isResumable) await this.#discard(lease, shadow);
  }

  /** If this fails, the next holder of the lease discards it. */
  async #discard(lease: Lease, shadow: Shadow): Promise<void> {
    try {
      await this.parts.generations.discard(lease, shadow);
    } catch (error) {
      const { board, generation } = shadow;
      this.parts.logger.warn(
        `generation ${generation} of board "${board}" could not be discarded now: ${toError(error).message}`,
      );
    }
  }
}

interface BoardRun {
  readonly board: string;
  readonly kind: ReconciliationStatus['kind'];
  readonly options: RunOptions;
}

/** Runs one task on one board while holding its lease, and returns its report. */
export function runForBoard<T>(
  parts: ReconcilerParts,
  { board, kind, options }: BoardRun,
  taskOf: (attempt: Attempt) => Promise<Omit<Task<T>, 'board'>>,
): Promise<T> {
  const { leases, store, logger } = parts;
  const { signal, keepsShadows = false } = options;
  const leased = { leases, store, logger, kind, boards: () => [board], signal, keepsShadows };
  return runLeased(leased, async (attempt) => {
    const task = { board, ...(await taskOf(attempt)) };
    const [report] = await new ShadowTasks(parts, attempt, options).run([task]);
    if (report === undefined) throw new Error(`the ${kind} of board ${board} came to nothing`);
    return report;
  });
}
