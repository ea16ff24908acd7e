import { readFile } from 'node:fs/promises';
import { parseBoardsFile, type BoardDefinition } from '#board';
import { RanklogError } from '#errors';

export class BoardsFileMissingError extends RanklogError {
  constructor(file: string, cause: unknown) {
    super(`the boards file ${file} can't be read; write one, or name it with RANKLOG_BOARDS`, {
      cause,
    });
  }
}

/**
 * Reads the boards of a boards file.
 * @throws BoardsFileMissingError, BoardsFileError
 */
export async function readBoardsFile(file: string): Promise<BoardDefinition[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new BoardsFileMissingError(file, error);
  });
  return parseBoardsFile(text, file);
}
