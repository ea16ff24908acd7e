import type { ConsumerHealth } from '#kafka-batch';
import type { Logger } from '../infra/logger.js';

export interface ProgressWatchOptions {
  readonly topic: string;
  /** How long there may be work and no progress. */
  readonly stallTimeoutMs: number;
  readonly health: () => ConsumerHealth;
  /** Whether the partition needs operator action, which a new process would need as well. */
  readonly needsOperator: (error: Error) => boolean;
  readonly logger: Logger;
  readonly onFatal: (error: Error) => void;
}

/** The process makes no progress, and a new one may. */
export class NoProgressError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'NoProgressError';
  }
}

const LONGEST_INTERVAL_MS = 5_000;

/**
 * Ends a process that can't make progress, in place of letting it hang: its supervisor starts another, which another
 * connection, another instance or a repaired server may serve better. One partition that has stopped for good, or
 * needs operator action, is no reason while others go on. Time in which the process itself stood still does not count.
 */
export class ProgressWatch {
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | undefined;
  #lastCheck = 0;
  #awakeSince = 0;
  /** Since when every partition has stopped permanently or needs operator action. */
  #allStoppedSince: number | undefined;

  constructor(private readonly options: ProgressWatchOptions) {
    this.#everyMs = Math.min(options.stallTimeoutMs / 4, LONGEST_INTERVAL_MS);
  }

  /** Until the signal is aborted, or the process is found to make no progress. */
  start(signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#lastCheck = this.#awakeSince = performance.now();
    this.#timer = setInterval(() => {
      this.#check();
    }, this.#everyMs).unref();
    signal.addEventListener('abort', () => {
      clearInterval(this.#timer);
    });
  }

  #check(): void {
    const now = performance.now();
    if (now - this.#lastCheck > 2 * this.#everyMs) this.#awakeSince = now;
    this.#lastCheck = now;
    const reason = this.#stall(this.options.health(), now);
    if (reason === undefined) return;
    clearInterval(this.#timer);
    const error = new NoProgressError(`${reason}; ending, so that another process can go on`);
    this.options.logger.error(error.message, { error });
    this.options.onFatal(error);
  }

  #stall(health: ConsumerHealth, now: number): string | undefined {
    return this.#idleLoop(health, now) ?? this.#stuck(health, now) ?? this.#allStopped(health, now);
  }

  #idleLoop({ loopAgeMs }: ConsumerHealth, now: number): string | undefined {
    if (!this.#tooLong(loopAgeMs, now)) return undefined;
    return `nothing was fetched from ${this.options.topic} for ${seconds(loopAgeMs)}`;
  }

  #stuck({ partitions }: ConsumerHealth, now: number): string | undefined {
    const { topic, needsOperator } = this.options;
    for (const [partition, { state, error, stuckMs }] of partitions) {
      if (!this.#tooLong(stuckMs, now) || (error && needsOperator(error))) continue;
      const last = error === undefined ? 'no error' : `last error: ${error.message}`;
      return `${topic}/${partition} (${state}) has made no progress for ${seconds(stuckMs)}; ${last}`;
    }
    return undefined;
  }

  #allStopped({ partitions }: ConsumerHealth, now: number): string | undefined {
    const { topic, needsOperator } = this.options;
    const stopped = [...partitions].filter(
      ([, { state, error }]) => state === 'failed' || (error !== undefined && needsOperator(error)),
    );
    if (stopped.length === 0 || stopped.length < partitions.size) {
      this.#allStoppedSince = undefined;
      return undefined;
    }
    this.#allStoppedSince ??= now;
    if (!this.#tooLong(now - this.#allStoppedSince, now)) return undefined;
    const words = stopped.map(([partition, { error }]) => `${partition}: ${error?.message ?? ''}`);
    return `all partitions of ${topic} that this process has are stopped (${words.join('; ')})`;
  }

  #tooLong(ms: number, now: number): boolean {
    return Math.min(ms, now - this.#awakeSince) >= this.options.stallTimeoutMs;
  }
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}
