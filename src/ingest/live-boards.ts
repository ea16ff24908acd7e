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
    let boards = await this.store.liveBoards();
    if (this.#lost(boards)) {
      await this.register();
      boards = await this.store.liveBoards();
      if (this.#lost(boards)) throw new NoLiveBoardsError();
    }
    this.#boards = boards;
  }

  #lost(boards: ReadonlyMap<string, LiveBoard>): boolean {
    return boards.size === 0 || [...this.#boards.keys()].some((board) => !boards.has(board));
  }
}
