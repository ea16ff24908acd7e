import type { LeaseKeeper } from './lease-keeper.js';
import { ProgressMeter, type Progress } from './progress-meter.js';

/** How far a run is, as it is told. */
export interface RunProgress extends Progress {
  /** A verify that has read the log compares: so many players so far. */
  readonly compared?: number;
}

const now = () => performance.now();

/** Tells how far the boards of one attempt are: each by its lease, the slowest of them to the caller. */
export class ProgressTeller {
  readonly #meters = new Map<string, ProgressMeter>();
  readonly #last = new Map<string, Progress>();
  #compared = 0;

  constructor(
    private readonly keeper: Pick<LeaseKeeper, 'note'>,
    private readonly onProgress: ((progress: RunProgress) => void) | undefined,
  ) {}

  /** Records of the log, of those to be read. */
  count(board: string, { done, total }: { readonly done: number; readonly total: number }): void {
    const meter = this.#meters.get(board) ?? new ProgressMeter(now);
    this.#meters.set(board, meter);
    const progress = meter.note(done, total);
    this.#last.set(board, progress);
    this.keeper.note(board, { done, total, rate: progress.rate });
    this.#tell();
  }

  compare(players: number): void {
    this.#compared += players;
  }

  #tell(): void {
    const left = (progress: Progress) => progress.total - progress.done;
    const [slowest] = [...this.#last.values()].sort((a, b) => left(b) - left(a));
    if (slowest === undefined) return;
    this.onProgress?.(this.#compared === 0 ? slowest : { ...slowest, compared: this.#compared });
  }
}
