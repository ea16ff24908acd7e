import { readFile } from 'node:fs/promises';
import { definitionText, parseBoardsFile, type BoardDefinition } from '#board';
import type { Boards, BoardStore, ContinuityStore, LiveBoard, Starts } from '#board-store';
import type { DefinitionRecord } from '#contracts';
import type { Logger } from '../infra/logger.js';
import type { DefinitionsTopic } from './definitions-topic.js';

/** What the registrar works with. */
interface Parts {
  readonly store: BoardStore;
  readonly continuity: Pick<ContinuityStore, 'continuity' | 'beginResync' | 'release'>;
  readonly definitions: Pick<DefinitionsTopic, 'readAll' | 'write' | 'claim'>;
  /** Where partitions begin of which nothing was ever read, and not all is left. */
  readonly unreadLog: () => Promise<Starts>;
  readonly log: Logger;
}

type Current = ReadonlyMap<string, DefinitionRecord>;
type Promotions = ReadonlyMap<string, number>;

/**
 * Makes the boards known in Redis: by the definitions that are in force, which the definitions topic keeps, and from the
 * file only boards that are new. So a board whose definition the file changes stays as it is, one that was removed stays
 * away, and instances with an old and a new file never fight over it. And it keeps in the topic what went live in Redis.
 */
export class BoardRegistrar {
  /** The boards of the file as it could last be read. */
  #ofFile: readonly BoardDefinition[] | undefined;
  /** What is in force as far as this process knows. */
  #current: Current = new Map();
  #wanted: ReadonlyMap<string, BoardDefinition> = new Map();
  /** Boards of the file that had no generation to be compared with yet. */
  #uncompared = new Set<string>();

  private readonly store: BoardStore;
  private readonly definitions: Parts['definitions'];
  private readonly log: Logger;

  constructor(
    private readonly parts: Parts,
    private readonly file: string,
  ) {
    ({ store: this.store, definitions: this.definitions, log: this.log } = parts);
  }

  /** The definitions that were registered last, by board: what a board is built with that has no generation yet. */
  get wanted(): ReadonlyMap<string, BoardDefinition> {
    return this.#wanted;
  }

  /**
   * Registers again what Redis has lost since, has a shard compared with Kafka that has lost a promotion, and writes what the
   * definitions topic lacks. Otherwise it does nothing and logs nothing.
   */
  async keepRegistered(): Promise<void> {
    // Before the boards: a pointer that moves meanwhile is then found with the next look.
    const promotions = await this.store.promotions();
    const boards = await this.store.boards();
    this.#wantNoMore(boards.removed);
    this.#compareBuilt(boards.live);
    const isLost = this.#isMissingAny(boards) || !(await this.store.areRegistered());
    if (isLost) await this.register();
    else if (!(await this.#hasLostPromotions(promotions, boards)))
      await this.#keepRecorded(promotions, boards);
  }

  /** Safe to repeat. @throws BoardsFileError, BoardsFileMissingError, OtherIdentityError, and what Kafka and Redis say */
  async register(): Promise<void> {
    const ofFile = await this.#readFile();
    const current = await this.claim();
    this.#current = current;
    const { live: known } = await this.store.boards();
    const wanted = wantedOf(ofFile, current);
    const isNew = wanted.some(({ board }) => !current.has(board) && !known.has(board));
    const begins = isNew ? await this.parts.unreadLog() : undefined;
    const { live } = await this.store.registerBoards(wanted, current, begins);
    this.#wanted = new Map(wanted.map((definition) => [definition.board, definition]));
    for (const board of this.#wanted.keys())
      this.#tellNew(board, { before: known.get(board), now: live.get(board) });
    this.#tellRemoved(ofFile);
    this.#tellDifferences(ofFile, live.values());
    this.#uncompared = new Set([...this.#wanted.keys()].filter((board) => !live.has(board)));
    await this.#keepRecorded(await this.store.promotions(), await this.store.boards());
  }

  /**
   * Checks that Kafka and Redis belong to this ranklog, and claims them where they have no identity. Returns the definitions in
   * force. Checks Kafka first: an emptied Redis, or another prefix in it, has no identity. @throws OtherIdentityError
   */
  async claim(): Promise<Current> {
    const current = await this.definitions.readAll();
    await this.store.claim();
    await this.definitions.claim();
    return current;
  }

  async #readFile(): Promise<readonly BoardDefinition[]> {
    try {
      this.#ofFile = parseBoardsFile(await readBoardsFile(this.file), this.file);
    } catch (error) {
      if (this.#ofFile === undefined || !(error instanceof Error)) throw error;
      this.log.warn(`${error.message}; going on with the boards that the file had before`);
    }
    return this.#ofFile;
  }

  #isMissingAny({ live, building, removed }: Boards): boolean {
    return [...this.#wanted.keys()].some(
      (board) => !live.has(board) && !building.has(board) && !removed.has(board),
    );
  }

  /** What comes back by these names is built by whoever brings it back, by a definition of then. */
  #wantNoMore(removed: ReadonlySet<string>): void {
    this.#wanted = new Map([...this.#wanted].filter(([board]) => !removed.has(board)));
    for (const board of removed) this.#uncompared.delete(board);
  }

  /**
   * Whether shards lack promotions that this process knows of. Each is told to be compared with Kafka. Ingest notices a lost promotion
   * by itself only if its record was in Kafka already when it looked.
   */
  async #hasLostPromotions(promotions: Promotions, boards: Boards): Promise<boolean> {
    const lost = [...this.#current.values()].filter(({ board, since, definition }) => {
      const isExpected = definition !== null || boards.live.has(board);
      return isExpected && (promotions.get(board) ?? 0) < since;
    });
    for (const shard of new Set(lost.map(({ board }) => this.store.shardOf(board))))
      await this.#haveCompared(shard);
    return lost.length > 0;
  }

  /** Begins a comparison without ending it: whoever applies events next begins another one, and ends that. */
  async #haveCompared(shard: number): Promise<void> {
    const { continuity } = this.parts;
    const seen = await continuity.continuity(shard);
    const begun = seen.isContinued ? await continuity.beginResync(shard, seen) : undefined;
    if (begun === undefined) return; // it is compared anyway
    await continuity.release(begun);
    this.log.warn(`shard ${shard} has lost a change of its boards; it is compared with Kafka`);
  }

  /**
   * Writes what went live, or was removed, after what the topic has of the board: of the boards that were new, and of
   * those whose builder was killed between the promotion and its record.
   */
  async #keepRecorded(promotions: Promotions, boards: Boards): Promise<void> {
    if (this.#unrecorded(promotions, boards).length === 0) return;
    this.#current = await this.definitions.readAll();
    const lacking = this.#unrecorded(promotions, boards);
    await this.definitions.write(lacking);
    this.#current = new Map([
      ...this.#current,
      ...lacking.map((record) => [record.board, record] as const),
    ]);
    for (const { board, generation, definition } of lacking)
      this.log.info(
        `board "${board}": ${definition === null ? 'its removal' : `the definition of generation ${generation}`} is kept in Kafka now`,
      );
  }

  #unrecorded(promotions: Promotions, boards: Boards): DefinitionRecord[] {
    return [...promotions].flatMap(([board, since]) => {
      const known = this.#current.get(board);
      if (since <= (known?.since ?? 0)) return [];
      const live = boards.live.get(board);
      if (live !== undefined) return { ...live, since };
      const isRemoved = boards.removed.has(board) && !boards.building.has(board);
      return isRemoved && known?.definition ? { ...known, since, definition: null } : [];
    });
  }

  #tellNew(board: string, { before, now }: Record<'before' | 'now', LiveBoard | undefined>): void {
    if (now === undefined)
      this.log.info(`board "${board}" has no live generation yet: it will be built from the log`);
    else if (now.generation !== before?.generation)
      this.log.info(`board "${board}" is live as generation ${now.generation}${historyText(now)}`);
  }

  #tellRemoved(ofFile: readonly BoardDefinition[]): void {
    for (const { board } of ofFile)
      if (!this.#wanted.has(board))
        this.log.warn(
          `board "${board}" of ${this.file} was removed, and stays so until "ranklog boards apply" brings it back`,
        );
  }

  /** Another process may have built a new board, by a file that defines it otherwise. */
  #compareBuilt(live: ReadonlyMap<string, LiveBoard>): void {
    const built = [...this.#uncompared].flatMap((board) => live.get(board) ?? []);
    for (const { board } of built) this.#uncompared.delete(board);
    this.#tellDifferences([...this.#wanted.values()], built);
  }

  #tellDifferences(ofFile: readonly BoardDefinition[], live: Iterable<LiveBoard>): void {
    const text = new Map(
      ofFile.map((definition) => [definition.board, definitionText(definition)]),
    );
    for (const { board, generation, definition } of live) {
      const wanted = text.get(board);
      if (wanted === undefined)
        this.log.info(`board "${board}" is live but not in ${this.file}; it stays`);
      else if (wanted !== definitionText(definition))
        this.log.warn(
          `board "${board}" differs in ${this.file} from the live generation ${generation}, which remains in use; ` +
            '"ranklog boards plan" shows what differs, "ranklog boards apply" builds it from the log',
        );
    }
  }
}

function historyText({ starts }: LiveBoard): string {
  if (starts === undefined) return '';
  const begins = [...starts].map(([partition, from]) => `partition ${partition} from ${from} on`);
  return `, without what is gone from the log before it: ${begins.join(', ')}`;
}

/** What is in force, and what is new in the file. */
function wantedOf(ofFile: readonly BoardDefinition[], current: Current): BoardDefinition[] {
  const lasting = [...current.values()].flatMap(({ definition }) => definition ?? []);
  return [...lasting, ...ofFile.filter(({ board }) => !current.has(board))];
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
