import { Presets, SingleBar } from 'cli-progress';

/** A bar on standard error, on a terminal; nothing elsewhere. Tells what is counted, its rate and the time left. */
export class ProgressBar {
  readonly #bar: SingleBar | undefined;
  readonly #begin = performance.now();

  /** `what` is counted, e.g. "events sent"; `total` is the work to be done, in whatever unit; 0 when it is not known. */
  constructor(what: string, total: number) {
    if (!process.stderr.isTTY) return;
    const progress = total > 0 ? '{bar} {percentage} %  {eta_formatted} left  ' : '';
    const options = {
      format: `${progress}{count} ${what}, {rate}/s`,
      stream: process.stderr,
      clearOnComplete: true,
    };
    this.#bar = new SingleBar({ ...options, etaBuffer: 50 }, Presets.shades_classic);
    this.#bar.start(total, 0, { count: 0, rate: 0 });
  }

  /** So much of the work is done, so many are counted. */
  update(done: number, count = done): void {
    const seconds = (performance.now() - this.#begin) / 1_000;
    this.#bar?.update(done, { count, rate: Math.round(count / Math.max(seconds, 0.001)) });
  }

  stop(): void {
    this.#bar?.stop();
  }
}
