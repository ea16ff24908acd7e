import type { BoardStore } from '#board-store';
import type { LiveBoards } from './live-boards.js';
import type { Losses } from './losses.js';
import type { PartitionWaits } from './partition-waits.js';
import type { ResultLog } from './result-log.js';
import type { ScoreLog } from './score-log.js';

interface Services {
  readonly store: BoardStore;
  readonly boards: LiveBoards;
  readonly losses: Losses;
  readonly waits: PartitionWaits;
  readonly scoreLog: ScoreLog;
  readonly resultLog: ResultLog;
}

/** What a partition works with; shared by all partitions of the process. */
export class IngestServices implements Services {
  readonly store: BoardStore;
  readonly boards: LiveBoards;
  readonly losses: Losses;
  readonly waits: PartitionWaits;
  readonly scoreLog: ScoreLog;
  readonly resultLog: ResultLog;

  constructor({ store, boards, losses, waits, scoreLog, resultLog }: Services) {
    this.store = store;
    this.boards = boards;
    this.losses = losses;
    this.waits = waits;
    this.scoreLog = scoreLog;
    this.resultLog = resultLog;
  }
}
