import type { LeaseKeeper } from './lease-keeper.js';
import { ProgressMeter, type Progress, type Counts } from './progress-meter.js';

/** How far a run is, as it is told. */
export interface RunProgress extends Progress {
  /** Places of players in views that a verify has compared so far, once it has read the log. */
  readonly compared?: number;
}

const performanceNow = () => performance.now();

/** Tells how far the boards of one attempt are: each by its lease, the slowest of them to the caller. */
export class ProgressReporter {
  readonly #meters = new Map<string, ProgressMeter>();
  readonly #last = new Map<string, { readonly progress: Progress; readonly left: number }>();
  #compared = 0;

  /** `now` is a clock in ms. */
  constructor(
    private readonly keeper: Pick<LeaseKeeper, 'note'>,
    private readonly onProgress: ((progress: RunProgress) => void) | undefined,
    private readonly now: () => number = performanceNow,
  ) {}

  count(board: string, counts: Counts): void {
    const meter = this.#meters.get(board) ?? new ProgressMeter(this.now);
    this.#meters.set(board, meter);
    const progress = meter.note(counts);
    this.#last.set(board, { progress, left: counts.total - counts.done });
    this.keeper.note(board, progress);
    this.#tell();
  }

  compare(places: number): void {
    this.#compared += places;
  }

  #tell(): void {
    const [slowest] = [...this.#last.values()].sort((a, b) => b.left - a.left);
    if (slowest === undefined) return;
    const { progress } = slowest;
    this.onProgress?.(this.#compared === 0 ? progress : { ...progress, compared: this.#compared });
  }
}
