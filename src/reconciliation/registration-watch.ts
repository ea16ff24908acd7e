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
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  /** The failure that was told last: it is not told every time. */
  #said: string | undefined;

  constructor(
    private readonly registrar: Pick<BoardRegistrar, 'keepRegistered'>,
    private readonly log: Log,
  ) {}

  start(): void {
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    }, LOOK_EVERY_MS);
  }

  /** Ends with the look in hand. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
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
