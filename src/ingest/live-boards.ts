import type { BoardStore, LiveBoard } from '#board-store';

/** No board is live: nothing can be applied yet. Trying again helps once the role reconciliation has registered the boards. */
export class NoLiveBoardsError extends Error {
  constructor() {
    super(
      'no board is live in Redis, so there is nothing to apply to; start the role reconciliation with a boards file (RANKLOG_BOARDS)',
    );
    this.name = 'NoLiveBoardsError';
  }
}

/**
 * The live boards as this process last read them. Ingest knows boards from Redis alone; the apply script refuses a
 * generation that is no longer live, and then they are read again.
 */
export class LiveBoards {
  #boards: ReadonlyMap<string, LiveBoard> = new Map();

  /** `register` brings back boards that Redis has lost; it does nothing in a process without the role for it. */
  constructor(
    private readonly store: BoardStore,
    private readonly register: () => Promise<void>,
  ) {}

  /** All of them, by name. */
  get current(): ReadonlyMap<string, LiveBoard> {
    return this.#boards;
  }

  /**
   * Reads them from Redis. A board never goes away by itself: when one is missing that was live before, or none is
   * live at all, Redis has lost it, and events must not become dead letters for it.
   * @throws NoLiveBoardsError
   */
  async refresh(): Promise<void> {
    let boards = await this.#read();
    if (boards === undefined) {
      await this.register();
      boards = await this.#read();
    }
    if (boards === undefined) throw new NoLiveBoardsError();
    this.#boards = boards;
  }

  /** undefined when some are missing. */
  async #read(): Promise<ReadonlyMap<string, LiveBoard> | undefined> {
    if (!(await this.store.areRegistered())) return undefined;
    const boards = await this.store.liveBoards();
    const isComplete = [...this.#boards.keys()].every((board) => boards.has(board));
    return isComplete && boards.size > 0 ? boards : undefined;
  }
}
