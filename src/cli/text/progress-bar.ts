import { Presets, SingleBar } from 'cli-progress';
import type { Progress, RunProgress } from '../../reconciliation/runs/progress.js';
import { countText, durationText } from './value-text.js';

/**
 * If `rate` or `secondsLeft` is missing, the bar shows the average since the start. `note` is the
 * end of the line.
 */
export type ProgressFacts = Partial<Omit<Progress, 'done'>> & { readonly note?: string };

type Output = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** The time between lines where there is no terminal. */
const LINE_EVERY_MS = 10_000;
const STALL_AFTER_MS = 30_000;
const NEAR_END_SECONDS = 10;
const CLEAR_LINE = '\r\u001b[K';

/** Progress on standard error: a bar on a terminal, elsewhere a line every ten seconds. */
export class ProgressBar implements Disposable {
  readonly #bar: SingleBar | undefined;
  readonly #begin = performance.now();
  #lastLine = this.#begin;

  /** `what` names the counted things, such as "events sent". `total` is 0 if it is unknown. */
  constructor(
    private readonly what: string,
    private total: number,
    private readonly stream: Output = process.stderr,
  ) {
    if (stream.isTTY !== true) return;
    const format = total > 0 ? '{bar} {percentage} %  {text}' : '{text}';
    this.#bar = new SingleBar({ format, stream, clearOnComplete: true }, Presets.shades_classic);
    this.#bar.start(total, 0, { text: '' });
  }

  update(done: number, facts: ProgressFacts = {}): void {
    const { total = this.total } = facts;
    this.total = total;
    const text = this.#text(done, facts);
    if (this.#bar !== undefined) {
      this.#bar.setTotal(total);
      this.#bar.update(done, { text });
    } else if (performance.now() - this.#lastLine >= LINE_EVERY_MS) {
      this.#lastLine = performance.now();
      const percent = total > 0 ? `${Math.floor((100 * done) / total)} %  ` : '';
      this.stream.write(`${percent}${text}\n`);
    }
  }

  writeLine(line: string): void {
    this.stream.write(`${this.#bar === undefined ? '' : CLEAR_LINE}${line}\n`);
  }

  /** Removes the bar from the terminal. */
  [Symbol.dispose](): void {
    this.#bar?.stop();
  }

  #text(done: number, { rate, secondsLeft, note = '' }: ProgressFacts): string {
    const seconds = Math.max((performance.now() - this.#begin) / 1_000, 0.001);
    const isMeasurable = done > 0 && this.total > 0;
    const average = isMeasurable ? ((this.total - done) * seconds) / done : 0;
    const left = secondsLeft === undefined ? average : (secondsLeft ?? 0);
    const leftText = left <= 0 ? '' : `, about ${durationText(left)} left`;
    const perSecond = countText(Math.round(rate ?? done / seconds));
    return `${countText(done)} ${this.what}, ${perSecond}/s${leftText}${note}`;
  }
}

/**
 * The progress of a reconciliation, shown from the first report on. Warns once after 30 s in which
 * the log grows at least as fast as it is read.
 */
export class ReconciliationBar implements Disposable {
  #bar: ProgressBar | undefined;
  /** Infinity once it has warned. */
  #aheadAt = performance.now();

  constructor(private readonly stream?: Output) {}

  /** Shows progress. A reconciliation takes it as its option `onProgress`. */
  readonly onProgress = (progress: RunProgress): void => {
    const { done, total, rate, secondsLeft, places } = progress;
    this.#bar ??= new ProgressBar('records', Math.max(1, total), this.stream);
    const note = places ? `, ${countText(places.count)} places ${places.done}` : '';
    this.#bar.update(done, { total, rate, secondsLeft, note });

    if (!isBehind(progress)) this.#aheadAt = Math.max(this.#aheadAt, performance.now());
    if (performance.now() - this.#aheadAt < STALL_AFTER_MS) return;
    this.#aheadAt = Infinity;
    this.#bar.writeLine(stallText(progress));
  };

  [Symbol.dispose](): void {
    this.#bar?.[Symbol.dispose]();
  }
}

/**
 * Whether records are read, but the number of records left does not fall. The last NEAR_END_SECONDS
 * do not count.
 */
function isBehind({ done, total, rate, secondsLeft }: RunProgress): boolean {
  return secondsLeft === null && rate > 0 && total - done > rate * NEAR_END_SECONDS;
}

function stallText({ done, total }: RunProgress): string {
  return (
    `ranklog: the log grows at least as fast as it is read: ${countText(total - done)} records ` +
    'are left. To finish, use a higher --throttle, or wait for less traffic'
  );
}
