import {
  BoardBuildingError,
  UnknownBoardError,
  type BoardStore,
  type LiveBoard,
} from '#board-store';

/** The live generation of a board. @throws UnknownBoardError, BoardBuildingError */
export async function liveBoard(store: BoardStore, board: string): Promise<LiveBoard> {
  const { live, building } = await store.boards();
  const found = live.get(board);
  if (found !== undefined) return found;
  if (building.has(board)) throw new BoardBuildingError(board);
  throw new UnknownBoardError(board, [...live.keys()].sort());
}
