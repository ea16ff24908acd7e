import type { BoardStore, LiveBoard } from '#board-store';
import { RecurringTask } from '../operations/recurring-task.js';
import type { LiveBoards } from './live-boards.js';

/** How often each process looks for views that have expired. */
const SWEEP_EVERY_MS = 5_000;

/** The words of the sweeper go here. */
interface Log {
  info(message: string): void;
  warn(message: string): void;
}

/**
 * Gives back the memory of expired views. What a reader or an event sees does not depend on it: any number of processes
 * may sweep at once, and a sweep that fails is made up for by the next.
 */
export class Sweeper {
  readonly #sweeps: RecurringTask;
  #stopping = false;

  constructor(
    private readonly store: Pick<BoardStore, 'sweep'>,
    private readonly boards: Pick<LiveBoards, 'current'>,
    private readonly log: Log,
    everyMs = SWEEP_EVERY_MS,
  ) {
    this.#sweeps = new RecurringTask(() => this.sweep(), everyMs);
  }

  start(): void {
    this.#sweeps.start();
  }

  /** Ends with the call in hand. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#sweeps.stop();
  }

  /** Removes all that has expired by now, some views at a time. */
  async sweep(): Promise<void> {
    for (const live of this.boards.current.live.values()) {
      if (this.#stopping) return;
      try {
        const removed = await this.#sweepBoard(live);
        if (removed > 0) this.log.info(`board "${live.board}": removed ${removed} expired view(s)`);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.log.warn(`expired views of board "${live.board}" stay for now: ${reason}`);
      }
    }
  }

  /** A log that is read in haste makes views expire faster than one call a turn could remove them. */
  async #sweepBoard(live: LiveBoard): Promise<number> {
    let removed = 0;
    for (let some = 1; some > 0 && !this.#stopping; removed += some)
      some = await this.store.sweep(live);
    return removed;
  }
}
