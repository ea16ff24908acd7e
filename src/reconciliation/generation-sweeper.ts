import type { GenerationCatalog } from '#board-store';
import { toError } from '#kafka-batch';
import { RecurringTask } from '../operations/recurring-task.js';

/** The words of the sweeper go here. */
interface Log {
  warn(message: string): void;
}

const SWEEP_EVERY_MS = 2_000;

/**
 * Gives back the memory of generations that nobody needs any more, in short steps. Any number of processes may do it at once;
 * what fails is made up for by the next time.
 */
export class GenerationSweeper {
  readonly #sweeps: RecurringTask;
  #isStopping = false;
  /** The failure that was told last: it is not told every time. */
  #said: string | undefined;

  constructor(
    private readonly catalog: Pick<GenerationCatalog, 'sweep'>,
    private readonly log: Log,
    everyMs = SWEEP_EVERY_MS,
  ) {
    this.#sweeps = new RecurringTask(() => this.sweep(), everyMs);
  }

  start(): void {
    this.#sweeps.start();
  }

  /** Ends with the step in hand. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#sweeps.stop();
  }

  /** All that there is to give back by now. */
  async sweep(): Promise<void> {
    try {
      while (!this.#isStopping && (await this.catalog.sweep()) > 0);
      this.#said = undefined;
    } catch (error) {
      const reason = toError(error).message;
      if (reason !== this.#said) this.log.warn(`discarded generations stay for now: ${reason}`);
      this.#said = reason;
    }
  }
}
