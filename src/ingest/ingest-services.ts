import type { BoardStore } from '#board-store';
import type { LiveBoards } from './live-boards.js';
import type { ResultLog } from './result-log.js';

/** What a partition works with; shared by all partitions of the process. */
export class IngestServices {
  constructor(
    readonly store: BoardStore,
    readonly boards: LiveBoards,
    readonly resultLog: ResultLog,
  ) {}
}
