import { setTimeout as delay } from 'node:timers/promises';

/** Keeps to at most `rate` events per second, counted from the first; does nothing without a rate. */
export class Pace {
  readonly #begin = performance.now();
  #events = 0;

  constructor(private readonly rate: number | undefined) {}

  /** Waits until so many more events may go. @throws the reason of the signal */
  async next(events: number, signal?: AbortSignal): Promise<void> {
    if (this.rate === undefined) return;
    const due = this.#begin + (this.#events / this.rate) * 1_000;
    this.#events += events;
    const wait = due - performance.now();
    if (wait > 0) await delay(wait, undefined, { signal }).catch(() => undefined); // only when it is aborted
    signal?.throwIfAborted();
  }
}
