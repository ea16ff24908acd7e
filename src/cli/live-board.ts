import { UnknownBoardError, type BoardReader, type LiveBoard } from '#board-store';

/** The live generation of a board. @throws UnknownBoardError */
export async function liveBoard(reader: BoardReader, board: string): Promise<LiveBoard> {
  const boards = await reader.liveBoards();
  const found = boards.find((live) => live.board === board);
  if (found === undefined)
    throw new UnknownBoardError(
      board,
      boards.map((live) => live.board),
    );
  return found;
}
