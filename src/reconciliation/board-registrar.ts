import { readFile } from 'node:fs/promises';
import { definitionText, parseBoardsFile, type BoardDefinition } from '#board';
import type { BoardStore } from '#board-store';

/** The words of the registrar go here. */
interface Log {
  info(message: string): void;
  warn(message: string): void;
}

/**
 * Makes the boards of the file known in Redis. A board that is new is live at once; one that differs from its live
 * definition stays as it is, so that instances with an old and a new file never fight over it.
 */
export class BoardRegistrar {
  constructor(
    private readonly store: BoardStore,
    private readonly file: string,
    private readonly log: Log,
  ) {}

  /** Safe to repeat. @throws BoardsFileError, BoardsFileMissingError, BoardNeedsBuildError, ShardCountError */
  async register(): Promise<void> {
    const definitions = parseBoardsFile(await readBoardsFile(this.file), this.file);
    await this.store.claimShards();
    const known = await this.store.liveBoards();
    for (const definition of definitions)
      await this.#register(definition, known.has(definition.board));
    for (const board of known.keys())
      if (!definitions.some((definition) => definition.board === board))
        this.log.info(`board "${board}" is live but not in ${this.file}; it stays`);
  }

  async #register(definition: BoardDefinition, known: boolean): Promise<void> {
    const { board } = definition;
    const live = await this.store.registerBoard(definition);
    if (!known) this.log.info(`board "${board}" is live as generation ${live.generation}`);
    if (definitionText(live.definition) !== definitionText(definition))
      this.log.warn(
        `board "${board}" is defined otherwise in ${this.file} than the live generation ${live.generation}, which stays in force; ` +
          'a changed definition needs a build from the log: use another board name, or another RANKLOG_REDIS_PREFIX and RANKLOG_GROUP',
      );
  }
}

/** The boards file can't be read. */
export class BoardsFileMissingError extends Error {
  constructor(file: string, cause: unknown) {
    super(`the boards file ${file} can't be read; write one, or name it with RANKLOG_BOARDS`, {
      cause,
    });
    this.name = 'BoardsFileMissingError';
  }
}

/** The text of a boards file. @throws BoardsFileMissingError */
export async function readBoardsFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new BoardsFileMissingError(file, error);
  }
}
