import { setTimeout as delay } from 'node:timers/promises';

/** What was left out while nothing could be done is made up for as far as this: more would come as a flood. */
const MOST_CAUGHT_UP_MS = 1_000;

/** Keeps to at most `rate` events per second, a second's worth at once at most; does nothing without a rate. */
export class Throttle {
  /** When the next event may go, by performance.now. */
  #due = performance.now();

  constructor(private readonly rate: number | undefined) {}

  get isThrottled(): boolean {
    return this.rate !== undefined;
  }

  /** Waits until so many more events may go. @throws the reason of the signal */
  async next(events: number, signal?: AbortSignal): Promise<void> {
    if (this.rate === undefined) return;
    const now = performance.now();
    const due = Math.max(this.#due, now - MOST_CAUGHT_UP_MS);
    this.#due = due + (events / this.rate) * 1_000;
    const wait = due - now;
    if (wait > 0) await delay(wait, undefined, { signal }).catch(() => undefined); // only when it is aborted
    signal?.throwIfAborted();
  }
}
