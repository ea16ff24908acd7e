import type { RunLeases } from './run-leases.js';

export interface Counts {
  readonly done: number;
  readonly total: number;
}

/**
 * `done`: offsets that the shadow covers; `total`: all from its beginning to the live applied
 * offsets, or to its ends.
 */
export interface Progress extends Counts {
  /** Offsets per second, over the last seconds. */
  readonly rate: number;
  /** null: not known yet, or the log grows as fast as it is applied. */
  readonly secondsLeft: number | null;
}

export interface RunProgress extends Progress {
  /** How many places a verify has compared, or a build ranked, once it has read the log. */
  readonly places?: { readonly count: number; readonly done: 'compared' | 'ranked' };
}

/** Rates are measured over the last SPAN_MS, and are 0 until SHORTEST_SPAN_MS have passed. */
const SPAN_MS = 5_000;
const SHORTEST_SPAN_MS = 1_000;

export class ProgressMeter {
  #samples: (Counts & { readonly at: number })[] = [];

  /** `now` returns a time in ms. */
  constructor(private readonly now: () => number) {}

  /** Records done before the first call do not count towards the rate. */
  note({ done, total }: Counts): Progress {
    const last = { at: this.now(), done, total };
    const firstKept = this.#samples.findIndex(({ at }) => at >= last.at - SPAN_MS);
    this.#samples = firstKept < 0 ? [] : this.#samples.slice(Math.max(0, firstKept - 1));
    this.#samples.push(last);
    const first = this.#samples[0] ?? last;
    const seconds = (last.at - first.at) / 1_000;
    const perSecond = (count: number) => (seconds < SHORTEST_SPAN_MS / 1_000 ? 0 : count / seconds);
    const rate = perSecond(done - first.done);
    const gain = rate - perSecond(total - first.total); // the log grows meanwhile
    const left = total - done;
    const secondsLeft = left === 0 ? 0 : gain > 0 ? Math.ceil(left / gain) : null;
    return { done, total, rate: Math.round(rate), secondsLeft };
  }
}

/**
 * Reports progress. The status of each board shows its own; the caller gets the progress of the
 * board with most records left.
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
   * Takes the counts of all boards at one moment: with those of different moments, what the caller
   * gets could go back.
   */
  count(boards: ReadonlyMap<string, Counts>): void {
    const all = [...boards].map(([board, counts]) => this.#note(board, counts));
    const left = ({ done, total }: Counts) => total - done;
    const [behind] = all.sort((a, b) => left(b) - left(a));
    if (behind !== undefined)
      this.onProgress?.({ ...behind, ...(this.#places && { places: this.#places }) });
  }

  /** `count` is how many there are of this comparison or ranking: it begins again when these do. */
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
