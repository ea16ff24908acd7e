/** How far a run is: records of the log that are done, of those that are to be read; rate per second over the last seconds. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  readonly rate: number;
  /** null: not known yet, or the log grows as fast as it is read. */
  readonly secondsLeft: number | null;
}

interface Sample {
  readonly at: number;
  readonly done: number;
  readonly total: number;
}

/** The rate is that of so many ms, and is not told of less than so many. */
const SPAN_MS = 5_000;
const SHORTEST_SPAN_MS = 1_000;

/** Turns counts into a rate and the time that is left. */
export class ProgressMeter {
  #samples: Sample[] = [];

  /** `now` is a clock in ms. */
  constructor(private readonly now: () => number) {}

  /** So much is done by now. What was done before the first call took no time of this run. */
  note(done: number, total: number): Progress {
    const at = this.now();
    const last: Sample = { at, done, total };
    const firstKept = this.#samples.findIndex((sample) => sample.at >= at - SPAN_MS);
    this.#samples = firstKept < 0 ? [] : this.#samples.slice(Math.max(0, firstKept - 1));
    this.#samples.push(last);
    return { done, total, ...estimate(this.#samples[0] ?? last, last) };
  }
}

function estimate(first: Sample, last: Sample): Pick<Progress, 'rate' | 'secondsLeft'> {
  const left = last.total - last.done;
  const ms = last.at - first.at;
  if (ms < SHORTEST_SPAN_MS) return { rate: 0, secondsLeft: left === 0 ? 0 : null };
  const rate = ((last.done - first.done) / ms) * 1_000;
  const growth = ((last.total - first.total) / ms) * 1_000;
  const gain = rate - growth;
  const seconds = gain > 0 ? Math.round(left / gain) : null;
  return { rate: Math.round(rate), secondsLeft: left === 0 ? 0 : seconds };
}
