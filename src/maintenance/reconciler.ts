import type { BoardDefinition } from '#board';
import { Build, type BuildOptions, type BuildReport } from '../generations/build.js';
import type { ReconcilerParts, RunOptions } from '../generations/generation-run.js';
import { removeBoard, rollBack, type PromotionReport } from '../generations/promote.js';
import {
  takeSnapshot,
  type SnapshotOptions,
  type SnapshotReport,
} from '../generations/snapshot.js';
import { Verify, type VerifyOptions, type VerifyReport } from '../verify/verify.js';

/**
 * Runs reconciliations and removes boards; live ingest never waits for it. A lease allows one of these per board at a time.
 * All methods @throw LeaseHeldError, LeaseLostError, CancelledError, and the errors of Kafka and Redis after some retries.
 */
export class Reconciler {
  constructor(private readonly parts: ReconcilerParts) {}

  /**
   * Builds boards from the log, and promotes each as soon as it is caught up. Continues a build that was killed. Cost: one pass
   * over the log, for any number of boards. @throws HistoryCutError
   */
  build(definitions: readonly BoardDefinition[], options: BuildOptions): Promise<BuildReport[]> {
    return new Build(this.parts, definitions, options).run();
  }

  /**
   * Compares live boards with the log, player by player. Cost: one pass over the log, and three calls for each 500 players.
   * @throws UnknownBoardError, BoardBuildingError, HistoryCutError
   */
  verify(boards: readonly string[], options: VerifyOptions): Promise<VerifyReport[]> {
    return new Verify(this.parts, boards, options).run();
  }

  /** Promotes the previous generation; a second call rolls forward. @throws NoPreviousGenerationError, HistoryCutError */
  rollback(board: string, options: RunOptions): Promise<PromotionReport> {
    return rollBack(this.parts, board, options);
  }

  /**
   * Builds a read-only generation from the records up to `until` (ms); the live generation stays.
   * @throws UnknownBoardError, BoardBuildingError, HistoryCutError
   */
  snapshot(board: string, until: number, options: SnapshotOptions): Promise<SnapshotReport> {
    return takeSnapshot(this.parts, { board, until }, options);
  }

  /** Removes a board with all its generations but snapshots; its events are dead letters from then on. @throws UnknownBoardError */
  remove(board: string, { signal }: Pick<RunOptions, 'signal'>): Promise<void> {
    return removeBoard(this.parts, board, signal);
  }
}
