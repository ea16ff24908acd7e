import { readFile } from 'node:fs/promises';
import { definitionText, parseBoardsFile, type BoardDefinition } from '#board';
import type { BoardStore, LiveBoard } from '#board-store';

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
  #registered: readonly string[] = [];

  constructor(
    private readonly store: BoardStore,
    private readonly file: string,
    private readonly log: Log,
  ) {}

  /** Registers again what Redis has lost since; nothing else is done or said. */
  async keepRegistered(): Promise<void> {
    const { live, building } = await this.store.boards();
    const isComplete = this.#registered.every((board) => live.has(board) || building.has(board));
    if (!isComplete || !(await this.store.areRegistered())) await this.register();
  }

  /** Safe to repeat. @throws BoardsFileError, BoardsFileMissingError, ShardCountError */
  async register(): Promise<void> {
    const definitions = parseBoardsFile(await readBoardsFile(this.file), this.file);
    await this.store.claimShards();
    const { live: known } = await this.store.boards();
    const { live } = await this.store.registerBoards(definitions);
    this.#registered = definitions.map(({ board }) => board);
    for (const definition of definitions)
      this.#tell(definition, { before: known, now: live.get(definition.board) });
    for (const board of known.keys())
      if (!definitions.some((definition) => definition.board === board))
        this.log.info(`board "${board}" is live but not in ${this.file}; it stays`);
  }

  #tell(
    definition: BoardDefinition,
    { before, now }: { before: ReadonlyMap<string, LiveBoard>; now: LiveBoard | undefined },
  ): void {
    const { board } = definition;
    if (now === undefined) return; // lost again meanwhile; whoever needs it registers it again
    if (!before.has(board))
      this.log.info(`board "${board}" is live as generation ${now.generation}`);
    if (definitionText(now.definition) !== definitionText(definition))
      this.log.warn(
        `board "${board}" is defined otherwise in ${this.file} than the live generation ${now.generation}, which stays in force; ` +
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
