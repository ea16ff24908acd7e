import type { Logger } from './logger.js';

/** One Ctrl-C may arrive twice: from the terminal, and from a wrapper that forwards it. */
export const SAME_REQUEST_MS = 1_000;

interface ShutdownOptions {
  /** How long the shutdown may take before it is forced. */
  readonly timeoutMs: number;
  readonly logger: Logger;
  /** Ends the process immediately, as a failure. */
  readonly force: () => void;
}

/**
 * The shutdown of the process, which finishes its work in flight. A second signal or the deadline
 * forces the end.
 * States: running, ending (after a signal or a failure), finished.
 */
export class Shutdown {
  readonly #requested = new AbortController();
  /** Aborted when the process has to end. */
  readonly signal: AbortSignal = this.#requested.signal;
  #resolve: (exitCode: number) => void = () => undefined;
  /** Resolves when the process has to end: 0 after a signal, 1 after a failure. */
  readonly exitCode = new Promise<number>((resolve) => (this.#resolve = resolve));
  #deadline: NodeJS.Timeout | undefined;
  #signalledAt: number | undefined;

  constructor(private readonly options: ShutdownOptions) {}

  onSignal(name: NodeJS.Signals): void {
    const { logger, force } = this.options;
    if (this.#signalledAt === undefined) {
      this.#signalledAt = performance.now();
      logger.info(`${name}: finishing what is in flight`);
      this.#request(0);
    } else if (performance.now() - this.#signalledAt >= SAME_REQUEST_MS) {
      logger.warn(`${name} again: ending at once; the next start publishes the rest`);
      force();
    }
  }

  /** Begins a shutdown because the process cannot go on. The caller has logged why. */
  fail(): void {
    this.#request(1);
  }

  /** Cancels the deadline, when everything is closed. */
  finished(): void {
    clearTimeout(this.#deadline);
  }

  /** Starts the deadline. The first request sets the exit code. */
  #request(exitCode: number): void {
    if (this.signal.aborted) return;
    const { timeoutMs, logger, force } = this.options;
    this.#deadline = setTimeout(() => {
      logger.error(
        `shutdown not finished after ${timeoutMs} ms; the next start publishes the rest`,
      );
      force();
    }, timeoutMs);
    this.#requested.abort();
    this.#resolve(exitCode);
  }
}
