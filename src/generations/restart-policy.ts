import {
  BoardBuildingError,
  LeaseLostError,
  UnknownBoardError,
  type ReconciliationStatus,
} from '#board-store';
import {
  BoardsLostError,
  HistoryCutError,
  LiveGenerationChangedError,
  ServerChangedError,
  ShadowLostError,
} from './errors.js';
import { RETRY_FOR_MS } from './with-retries.js';

/** Attempts that may fail for what the next one does itself. */
const MOST_ATTEMPTS = 6;

/** Whether it helps to begin one run again after a failure. */
export class RestartPolicy {
  /** Failures that the next attempt does away with. */
  #failures = 0;
  /** Since when all that is lacking is what others do; by `now`. */
  #waitingSince: number | undefined;

  constructor(
    private readonly kind: ReconciliationStatus['kind'],
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Asked once after each failure. */
  helps(error: unknown): boolean {
    if (this.#isWaiting(error)) return this.#waits();
    this.#waitingSince = undefined;
    this.#failures += 1;
    return this.#failures < MOST_ATTEMPTS && this.#isDoneAwayWith(error);
  }

  /**
   * Boards that Redis has lost are registered again by the role reconciliation. Those that were there once are unknown until
   * then; one that was not is unknown for good.
   */
  #isWaiting(error: unknown): boolean {
    const isUnknown = error instanceof UnknownBoardError || error instanceof BoardBuildingError;
    const hasBegun = this.#failures > 0 || this.#waitingSince !== undefined;
    return error instanceof BoardsLostError || (isUnknown && hasBegun);
  }

  /** How long others take depends on their machine: not how often, but how long they were waited for counts. */
  #waits(): boolean {
    this.#waitingSince ??= this.now();
    return this.now() - this.#waitingSince <= RETRY_FOR_MS;
  }

  #isDoneAwayWith(error: unknown): boolean {
    const { kind } = this;
    const isLoss =
      error instanceof ShadowLostError ||
      error instanceof ServerChangedError ||
      (error instanceof LeaseLostError && error.takenOverBy === undefined) ||
      error instanceof LiveGenerationChangedError;
    const isOfSome =
      kind === 'verify' && error instanceof HistoryCutError && error.boards.length > 1;
    return isLoss || isOfSome;
  }
}
