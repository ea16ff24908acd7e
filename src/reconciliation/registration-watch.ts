import { RecurringTask } from '../operations/recurring-task.js';
import type { BoardRegistrar } from './board-registrar.js';

/** The words of the watch go here. */
interface Log {
  warn(message: string): void;
}

/** How often Redis is asked whether it still has the boards. */
const LOOK_EVERY_MS = 1_000;

/**
 * Registers the boards again when Redis has lost them: ingest in other processes waits for that.
 * States: stopped, then watching (`start` to `stop`).
 */
export class RegistrationWatch {
  readonly #looks = new RecurringTask(() => this.#look(), LOOK_EVERY_MS);
  /** The failure that was told last: it is not told every time. */
  #said: string | undefined;

  constructor(
    private readonly registrar: Pick<BoardRegistrar, 'keepRegistered'>,
    private readonly log: Log,
  ) {}

  start(): void {
    this.#looks.start();
  }

  /** Ends with the look in hand. */
  async stop(): Promise<void> {
    await this.#looks.stop();
  }

  async #look(): Promise<void> {
    try {
      await this.registrar.keepRegistered();
      this.#said = undefined;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (reason !== this.#said) this.log.warn(`the boards can't be kept registered: ${reason}`);
      this.#said = reason;
    }
  }
}
