/** How much is done, of how much. */
export interface Counts {
  readonly done: number;
  readonly total: number;
}

/** Records of the log that are applied, of those up to the live applied offsets. */
export interface Progress extends Counts {
  /** Records per second, over the last seconds. */
  readonly rate: number;
  /** null: unknown as yet, or the log grows as fast as it is read. */
  readonly secondsLeft: number | null;
}

interface Sample extends Counts {
  readonly at: number;
}

/** Rates are measured over the last SPAN_MS, and are 0 until SHORTEST_SPAN_MS have passed. */
const SPAN_MS = 5_000;
const SHORTEST_SPAN_MS = 1_000;

/** Turns counts into a rate and the time left. */
export class ProgressMeter {
  #samples: Sample[] = [];

  /** `now` is a clock in ms. */
  constructor(private readonly now: () => number) {}

  /** Records done before the first call do not count towards the rate. */
  note({ done, total }: Counts): Progress {
    const last: Sample = { at: this.now(), done, total };
    const firstKept = this.#samples.findIndex(({ at }) => at >= last.at - SPAN_MS);
    this.#samples = firstKept < 0 ? [] : this.#samples.slice(Math.max(0, firstKept - 1));
    this.#samples.push(last);
    const { rate, growth } = speedOf(this.#samples[0] ?? last, last);
    return { done, total, rate: Math.round(rate), secondsLeft: secondsLeft(last, rate - growth) };
  }
}

/** Both per second; 0 while unknown. `growth` is that of the log. */
function speedOf(first: Sample, last: Sample): { rate: number; growth: number } {
  const ms = last.at - first.at;
  if (ms < SHORTEST_SPAN_MS) return { rate: 0, growth: 0 };
  const perSecond = (count: number) => (count / ms) * 1_000;
  return { rate: perSecond(last.done - first.done), growth: perSecond(last.total - first.total) };
}

function secondsLeft({ done, total }: Counts, gain: number): number | null {
  const left = total - done;
  if (left === 0) return 0;
  return gain > 0 ? Math.ceil(left / gain) : null;
}
