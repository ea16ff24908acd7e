import { parseView } from '#board';
import type { PinnedBoard } from '#board-store';
import { StaleBoardError } from './period-errors.js';
import type { KnownPeriods } from './periods.js';

/** What is known of a board without the records of its windows. */
export interface BoardLook extends Omit<KnownPeriods, 'records'> {
  readonly board: PinnedBoard;
}

/**
 * Finds the instances of windows that have views with players. Cost: lists all views of the board.
 * @throws StaleBoardError, ListingInterruptedError
 */
export async function lookAtBoard(board: PinnedBoard): Promise<BoardLook> {
  const { isStale, ...look } = await lookAtStaleBoard(board);
  if (isStale) throw new StaleBoardError(board.live.board);
  return look;
}

/** As lookAtBoard, but finds what there is while reads are stale, too. @throws ListingInterruptedError */
export async function lookAtStaleBoard(board: PinnedBoard) {
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
 * The views of an instance that have players, in the order of their names. Cost and errors: as
 * above.
 */
export async function viewsOfWindow(board: PinnedBoard, window: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { views, stale } of board.views()) {
    if (stale) throw new StaleBoardError(board.live.board);
    for (const { view } of views) if (parseView(view).window === window) found.push(view);
  }
  return found.sort((a, b) => (a < b ? -1 : 1));
}
