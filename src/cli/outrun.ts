import type { RunProgress } from '../generations/progress.js';

/** So long a run has to come no nearer to its end. */
const LASTS_MS = 30_000;

/** The work of fewer seconds may be left near the end of any run. */
const LEAST_SECONDS = 10;

/** Notices that a run comes no nearer to its end though it works: live events come as fast as it reads the log. */
export class Outrun {
  #since: number | undefined;
  #isTold = false;

  /** `now` is a clock in ms. */
  constructor(private readonly now: () => number) {}

  /** How far the run is by now; answers true once, when that is so. */
  note({ done, total, rate, secondsLeft }: RunProgress): boolean {
    const isBehind = secondsLeft === null && rate > 0 && total - done > rate * LEAST_SECONDS;
    const now = this.now();
    this.#since = isBehind ? (this.#since ?? now) : undefined;
    if (this.#isTold || this.#since === undefined || now - this.#since < LASTS_MS) return false;
    this.#isTold = true;
    return true;
  }
}
