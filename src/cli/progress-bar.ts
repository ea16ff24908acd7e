import { Presets, SingleBar } from 'cli-progress';
import { countText, durationText } from './quantities.js';

/** What is known of the work beside how much is done; what is missing is counted since the beginning. */
export interface ProgressFacts {
  /** What is counted, where the work is measured in something else. */
  readonly count?: number;
  /** The work to be done, where it has changed. */
  readonly total?: number;
  /** Counted a second. */
  readonly rate?: number;
  /** null: not known. */
  readonly secondsLeft?: number | null;
  /** Said behind the rest. */
  readonly note?: string;
}

interface Output {
  readonly isTTY?: boolean;
  write(text: string): boolean;
}
export interface ProgressBarOptions {
  readonly stream?: Output & NodeJS.WritableStream;
  /** A clock in ms. */
  readonly now?: () => number;
}

/** Where there is no terminal, a line is written so often. */
const LINE_EVERY_MS = 10_000;

const CLEAR_LINE = '\r\u001b[K';

/** How far a work is, on standard error: a bar on a terminal, elsewhere a line every ten seconds. */
export class ProgressBar {
  readonly #bar: SingleBar | undefined;
  readonly #stream: Output & NodeJS.WritableStream;
  readonly #now: () => number;
  readonly #begin: number;
  #lastLine: number;
  #total: number;

  /** `what` is counted, e.g. "events sent"; `total` is the work to be done, in whatever unit; 0 when it is not known. */
  constructor(
    private readonly what: string,
    total: number,
    { stream = process.stderr, now = () => performance.now() }: ProgressBarOptions = {},
  ) {
    this.#stream = stream;
    this.#now = now;
    this.#begin = now();
    this.#lastLine = this.#begin;
    this.#total = total;
    if (stream.isTTY !== true) return;
    const format = total > 0 ? '{bar} {percentage} %  {text}' : '{text}';
    this.#bar = new SingleBar({ format, stream, clearOnComplete: true }, Presets.shades_classic);
    this.#bar.start(total, 0, { text: '' });
  }

  /** So much of the work is done. */
  update(done: number, facts: ProgressFacts = {}): void {
    const { total = this.#total } = facts;
    this.#total = total;
    const text = this.#text(done, facts);
    if (this.#bar !== undefined) {
      this.#bar.setTotal(total);
      this.#bar.update(done, { text });
    } else if (this.#now() - this.#lastLine >= LINE_EVERY_MS) {
      this.#lastLine = this.#now();
      const percent = total > 0 ? `${Math.floor((100 * done) / total)} %  ` : '';
      this.#stream.write(`${percent}${text}\n`);
    }
  }

  /** A line above the bar, which is drawn again below it. */
  say(line: string): void {
    this.#stream.write(`${this.#bar === undefined ? '' : CLEAR_LINE}${line}\n`);
  }

  stop(): void {
    this.#bar?.stop();
  }

  #text(done: number, facts: ProgressFacts): string {
    const { count = done, rate, secondsLeft, note = '' } = facts;
    const seconds = Math.max((this.#now() - this.#begin) / 1_000, 0.001);
    const ratePart = `${countText(Math.round(rate ?? count / seconds))}/s`;
    const left = secondsLeft === undefined ? this.#secondsLeft(done, seconds) : secondsLeft;
    const leftPart = left === null || left <= 0 ? '' : `, about ${durationText(left)} left`;
    return `${countText(count)} ${this.what}, ${ratePart}${leftPart}${note}`;
  }

  /** At the rate since the beginning; null while nothing tells. */
  #secondsLeft(done: number, seconds: number): number | null {
    if (done <= 0 || this.#total <= 0) return null;
    return ((this.#total - done) * seconds) / done;
  }
}
