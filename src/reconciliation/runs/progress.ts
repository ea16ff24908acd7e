import type { RunLeases } from './run-leases.js';

export interface Counts {
  readonly done: number;
  readonly total: number;
}

/**
 * How far a shadow is. `done`: offsets that it covers. `total`: offsets from its beginning to the
 * live applied offsets, or to its ends.
 */
export interface Progress extends Counts {
  /** Offsets per second, over the last seconds. */
  readonly rate: number;
  /** null: not known yet, or the log grows as fast as it is applied. */
  readonly secondsLeft: number | null;
}

export interface RunProgress extends Progress {
  /** After the log is read: how many places a verify has compared, or a build has ranked. */
  readonly places?: { readonly count: number; readonly done: 'compared' | 'ranked' };
}

/** Rates are measured over the last SPAN_MS, and are 0 until SHORTEST_SPAN_MS have passed. */
const SPAN_MS = 5_000;
const SHORTEST_SPAN_MS = 1_000;

interface Sample extends Counts {
  /** In ms. */
  readonly at: number;
}

/** Derives the rate and the time left from counts at different times. */
export class ProgressMeter {
  #samples: Sample[] = [];

  /** `now` returns a time in ms. */
  constructor(private readonly now: () => number) {}

  /** Records done before the first call do not count towards the rate. */
  note({ done, total }: Counts): Progress {
    const last = { at: this.now(), done, total };
    const first = this.#firstOfSpan(last);
    const spanMs = last.at - first.at;
    const perSecond = (count: number) => (spanMs < SHORTEST_SPAN_MS ? 0 : count / (spanMs / 1_000));
    const rate = perSecond(done - first.done);
    const growth = perSecond(total - first.total);

    const left = total - done;
    const gain = rate - growth;
    let secondsLeft: number | null = null;
    if (left === 0) secondsLeft = 0;
    else if (gain > 0) secondsLeft = Math.ceil(left / gain);
    return { done, total, rate: Math.round(rate), secondsLeft };
  }

  /** Adds a sample. Returns the last sample from before the span, or else the first one in it. */
  #firstOfSpan(last: Sample): Sample {
    const firstKept = this.#samples.findIndex(({ at }) => at >= last.at - SPAN_MS);
    this.#samples = firstKept < 0 ? [] : this.#samples.slice(Math.max(0, firstKept - 1));
    this.#samples.push(last);
    return this.#samples[0] ?? last;
  }
}

/**
 * Writes the progress of each board to its status. Reports the progress of the board with the most
 * records left to the caller.
 */
export class ProgressReporter {
  readonly #meters = new Map<string, ProgressMeter>();
  #places: RunProgress['places'];

  /** `now` returns a time in ms. */
  constructor(
    private readonly leases: Pick<RunLeases, 'note'>,
    private readonly onProgress: ((progress: RunProgress) => void) | undefined,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * Takes the counts of all boards at one moment. With counts of different moments, the reported
   * progress could go backwards.
   */
  count(boards: ReadonlyMap<string, Counts>): void {
    const all = [...boards].map(([board, counts]) => this.#note(board, counts));
    const left = ({ done, total }: Counts) => total - done;
    const [slowest] = all.sort((a, b) => left(b) - left(a));
    if (slowest === undefined) return;

    const places = this.#places;
    this.onProgress?.(places === undefined ? slowest : { ...slowest, places });
  }

  /** `count` starts from 0 with each comparison or ranking. */
  setPlaces(done: 'compared' | 'ranked', count: number): void {
    this.#places = { done, count };
  }

  #note(board: string, counts: Counts): Progress {
    const meter = this.#meters.get(board) ?? new ProgressMeter(this.now);
    this.#meters.set(board, meter);
    const progress = meter.note(counts);
    this.leases.note(board, progress);
    return progress;
  }
}
