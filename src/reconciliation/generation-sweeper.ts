import type { GenerationCatalog } from '#board-store';
import { toError } from '#kafka-batch';

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
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;
  #isStopping = false;
  /** The failure that was told last: it is not told every time. */
  #said: string | undefined;

  constructor(
    private readonly catalog: Pick<GenerationCatalog, 'sweep'>,
    private readonly log: Log,
    private readonly everyMs = SWEEP_EVERY_MS,
  ) {}

  start(): void {
    this.#timer = setInterval(() => {
      this.#sweeping ??= this.sweep().finally(() => (this.#sweeping = undefined));
    }, this.everyMs);
  }

  /** Ends with the step in hand. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    clearInterval(this.#timer);
    await this.#sweeping;
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
