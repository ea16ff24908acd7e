import { parseView } from '#board';
import type { PinnedBoard, ViewsPage } from '#board-store';
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
  const windows = new Set<string>();
  for await (const { views } of freshPages(board))
    for (const { view } of views) windows.add(parseView(view).window);
  return { board, definition: board.live.definition, windows, clock: await board.clock() };
}

/** The views of an instance that have players, in the order of their names. Cost and errors: as above. */
export async function viewsOfWindow(board: PinnedBoard, window: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { views } of freshPages(board))
    for (const { view } of views) if (parseView(view).window === window) found.push(view);
  return found.sort((a, b) => (a < b ? -1 : 1));
}

async function* freshPages(board: PinnedBoard): AsyncGenerator<ViewsPage> {
  for await (const page of board.views()) {
    if (page.stale) throw new StaleBoardError(board.live.board);
    yield page;
  }
}
