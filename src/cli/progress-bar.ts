import { Presets, SingleBar } from 'cli-progress';

/** A bar on standard error, on a terminal; nothing elsewhere. Counts what is done, its rate and the time left. */
export class ProgressBar {
  readonly #bar: SingleBar | undefined;
  readonly #begin = performance.now();

  constructor(verb: string, total: number) {
    if (!process.stderr.isTTY) return;
    const format = `${verb} {bar} {value} of {total}, {rate}/s, {eta_formatted} left`;
    this.#bar = new SingleBar(
      { format, stream: process.stderr, clearOnComplete: true, etaBuffer: 50 },
      Presets.shades_classic,
    );
    this.#bar.start(total, 0, { rate: 0 });
  }

  update(done: number): void {
    const seconds = (performance.now() - this.#begin) / 1_000;
    this.#bar?.update(done, { rate: Math.round(done / Math.max(seconds, 0.001)) });
  }

  stop(): void {
    this.#bar?.stop();
  }
}
