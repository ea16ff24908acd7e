import type { BoardStore, Boards } from '#board-store';

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
 * The live boards as this process last read them. Ingest knows boards from Redis alone. The apply script refuses a call
 * that names an old version of the boards; then the caller reads them again.
 */
export class LiveBoards {
  #boards: Boards = { live: new Map(), building: new Set(), removed: new Set(), versions: [] };

  /** `register` brings back boards that Redis has lost; it does nothing in a process without the role for it. */
  constructor(
    private readonly store: BoardStore,
    private readonly register: () => Promise<void>,
  ) {}

  get current(): Boards {
    return this.#boards;
  }

  /**
   * Reads them from Redis. Only a command removes a board: when another one is missing that was there before, or none is
   * there at all, Redis has lost it, and events must not become dead letters for it.
   * @throws NoLiveBoardsError
   */
  async refresh(): Promise<void> {
    if ((await this.store.boards()) === this.#boards) return;
    let boards = await this.#read();
    if (boards === undefined) {
      await this.register();
      boards = await this.#read();
    }
    if (boards === undefined) throw new NoLiveBoardsError();
    this.#boards = boards;
  }

  /** The first offset of a partition that is on any live board: events before it need not be applied, only published. */
  firstNeeded(partition: number): number {
    const { live } = this.#boards;
    if (live.size === 0) return 0;
    return Math.min(...[...live.values()].map(({ starts }) => starts?.get(partition) ?? 0));
  }

  /** undefined when some are missing. */
  async #read(): Promise<Boards | undefined> {
    if (!(await this.store.areRegistered())) return undefined;
    const boards = await this.store.boards();
    const { live, building, removed } = boards;
    const known = [...this.#boards.live.keys(), ...this.#boards.building];
    const isComplete = known.every(
      (board) => live.has(board) || building.has(board) || removed.has(board),
    );
    return isComplete && live.size + building.size + removed.size > 0 ? boards : undefined;
  }
}
