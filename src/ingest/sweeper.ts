import type { BoardStore } from '#board-store';
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
  #timer: NodeJS.Timeout | undefined;
  #sweep: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: BoardStore,
    private readonly boards: LiveBoards,
    private readonly log: Log,
    private readonly everyMs = SWEEP_EVERY_MS,
  ) {}

  start(): void {
    this.#timer = setInterval(() => {
      this.#sweep = this.#sweep.then(() => this.sweep());
    }, this.everyMs).unref();
  }

  /** Ends after the sweep in hand. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweep;
  }

  /** Looks at each board once; what one call leaves over is left to the next sweep. */
  async sweep(): Promise<void> {
    for (const live of this.boards.current.values()) {
      try {
        const removed = await this.store.sweep(live);
        if (removed > 0) this.log.info(`board "${live.board}": removed ${removed} expired view(s)`);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.log.warn(`expired views of board "${live.board}" stay for now: ${reason}`);
      }
    }
  }
}
