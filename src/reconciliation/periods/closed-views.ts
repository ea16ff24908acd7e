import { parseView } from '#board';
import type { PinnedBoard } from '#board-store';
import { StaleBoardError } from './period-errors.js';
import type { KnownWindows } from './periods.js';

export interface BoardWindows extends KnownWindows {
  readonly board: PinnedBoard;
  /** Whether Redis lacks events, or may lack some, so that windows may be missing. */
  readonly isStale: boolean;
}

/**
 * Finds the instances of windows that have views.
 * Cost: lists all views of the board.
 * @throws ListingInterruptedError
 */
export async function readWindows(board: PinnedBoard): Promise<BoardWindows> {
  const windows = new Set<string>();
  let isStale = false;
  for await (const { views, stale } of board.views()) {
    isStale ||= stale;
    for (const { view } of views) windows.add(parseView(view).window);
  }
  const { definition } = board.live;
  return { board, definition, windows, clock: await board.clock(), isStale };
}

/**
 * The views of an instance, in the order of their names. Includes views whose players are all
 * banned or erased: an earlier revision may name these players.
 * Cost: lists all views of the board.
 * @throws StaleBoardError, ListingInterruptedError
 */
export async function viewsOfWindow(board: PinnedBoard, window: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { views, stale } of board.views()) {
    if (stale) throw new StaleBoardError(board.live.board);
    for (const { view } of views) {
      if (parseView(view).window === window) found.push(view);
    }
  }
  return found.sort((a, b) => (a < b ? -1 : 1));
}
