import type { BoardStore, LiveBoard } from '#board-store';
import { toError } from '#kafka-batch';
import type { Logger } from '../infra/logger.js';
import type { LiveBoards } from './live-boards.js';

interface ViewSweepParts {
  readonly store: Pick<BoardStore, 'sweep'>;
  readonly boards: Pick<LiveBoards, 'current'>;
  readonly logger: Logger;
}

/**
 * Deletes the expired views of all live boards. Reads and events never see an expired view, so this only frees memory.
 * @throws after the other boards are done, if a board fails
 */
export async function sweepViews(
  { store, boards, logger }: ViewSweepParts,
  signal: AbortSignal,
): Promise<void> {
  const failures: string[] = [];
  for (const live of boards.current.live.values())
    try {
      const removed = await sweepBoard(store, live, signal);
      if (removed > 0) logger.info(`board "${live.board}": removed ${removed} expired view(s)`);
    } catch (error) {
      failures.push(`board "${live.board}": ${toError(error).message}`);
    }
  if (failures.length > 0) throw new Error(failures.join('; '));
}

/** Repeats until nothing is left: while a backlog is read, views may expire faster than one call per turn removes them. */
async function sweepBoard(
  store: ViewSweepParts['store'],
  live: LiveBoard,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (let some = 1; some > 0 && !signal.aborted; removed += some) some = await store.sweep(live);
  return removed;
}
