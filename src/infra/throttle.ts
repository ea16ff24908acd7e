import { setTimeout as delay } from 'node:timers/promises';

/** After a longer pause, a burst has at most the events of this time. */
const MAX_CATCH_UP_MS = 1_000;

/** Limits events to `rate` per second, with bursts of one second; without a rate it never waits. */
export class Throttle {
  /** When the next event may go, by performance.now. */
  #due = performance.now();

  constructor(private readonly rate: number | undefined) {}

  get isThrottled(): boolean {
    return this.rate !== undefined;
  }

  /**
   * Waits until this many more events may go.
   * @throws the reason of the signal
   */
  async next(events: number, signal?: AbortSignal): Promise<void> {
    if (this.rate === undefined) return;
    const now = performance.now();
    const due = Math.max(this.#due, now - MAX_CATCH_UP_MS);
    this.#due = due + (events / this.rate) * 1_000;

    const waitMs = due - now;
    if (waitMs > 0) await delay(waitMs, undefined, { signal }).catch(() => undefined);
    signal?.throwIfAborted();
  }
}
