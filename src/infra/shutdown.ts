import type { Logger } from './logger.js';

/** One Ctrl-C may arrive twice: from the terminal, and from a wrapper that passes it on. */
const SAME_REQUEST_MS = 1_000;

export interface ShutdownOptions {
  /** How long the end may take before it is forced. */
  readonly timeoutMs: number;
  readonly logger: Logger;
  /** Ends the process at once, as a failure. */
  readonly force: () => void;
}

/**
 * The end of the process. What is in flight is finished first; a second signal or the deadline forces it.
 * States: running, ending (a signal or a failure has asked for it), finished.
 */
export class Shutdown {
  readonly #asked = new AbortController();
  readonly #exitCode: Promise<number>;
  #resolve: (exitCode: number) => void = () => undefined;
  #deadline: NodeJS.Timeout | undefined;
  #signalledAt: number | undefined;

  constructor(private readonly options: ShutdownOptions) {
    this.#exitCode = new Promise((resolve) => (this.#resolve = resolve));
  }

  /** Aborted when the process has to end. */
  get signal(): AbortSignal {
    return this.#asked.signal;
  }

  /** Resolves when the process has to end. */
  get exitCode(): Promise<number> {
    return this.#exitCode;
  }

  /** SIGTERM or SIGINT has come: `exitCode` is that of an end by request. */
  signalled(name: NodeJS.Signals, exitCode: number): void {
    const { logger, force } = this.options;
    if (this.#signalledAt === undefined) {
      this.#signalledAt = performance.now();
      logger.info(`${name}: finishing what is in flight`);
      this.ask(exitCode);
    } else if (performance.now() - this.#signalledAt >= SAME_REQUEST_MS) {
      logger.warn(`${name} again: ending at once; what is not published now is at the next start`);
      force();
    }
  }

  /** From now on the process has `timeoutMs` to end. The first one to ask gives the exit code. */
  ask(exitCode: number): void {
    if (this.signal.aborted) return;
    const { timeoutMs, logger, force } = this.options;
    this.#deadline = setTimeout(() => {
      logger.error(
        `not finished after ${timeoutMs} ms; what is not published now is at the next start`,
      );
      force();
    }, timeoutMs);
    this.#asked.abort();
    this.#resolve(exitCode);
  }

  /** All is finished: there is nothing to force any more. */
  finished(): void {
    clearTimeout(this.#deadline);
  }
}
