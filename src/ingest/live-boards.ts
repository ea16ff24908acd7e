import type { BoardStore, Boards, LiveBoard } from '#board-store';
import { toError } from '#errors';
import type { Logger } from '../infra/logger.js';
import { NeedsOperatorError } from './ingest-errors.js';

interface Registrar {
  register(): Promise<void>;
}

/**
 * The live boards as this process last read them. Ingest reads boards only from Redis. The apply
 * script refuses a call that names an old version of the boards; then the caller refreshes them.
 */
export class LiveBoards {
  #boards: Boards = { live: new Map(), building: new Set(), removed: new Set(), versions: [] };
  #registrar: Registrar | undefined;

  constructor(private readonly store: Pick<BoardStore, 'boards' | 'areRegistered' | 'sweep'>) {}

  get current(): Boards {
    return this.#boards;
  }

  /**
   * Makes `refresh` register boards that Redis has lost. Called only with the role reconciliation;
   * processes without it wait until one with it has registered the boards.
   */
  registerBy(registrar: Registrar): void {
    this.#registrar = registrar;
  }

  /**
   * Reads the boards from Redis.
   * @throws NeedsOperatorError if Redis has no boards, or lacks one that this process knows and no
   * command has removed: Redis has lost these boards, and their events must not become dead letters
   */
  async refresh(): Promise<void> {
    if ((await this.store.boards()) === this.#boards) return;

    let boards = await this.#read();
    if (boards === undefined) {
      await this.#registrar?.register();
      boards = await this.#read();
    }
    if (boards === undefined)
      throw new NeedsOperatorError(
        'no board is live in Redis, so no event can be applied; start the role ' +
          'reconciliation with a boards file (RANKLOG_BOARDS)',
      );
    this.#boards = boards;
  }

  /**
   * The first offset of a partition that any live board needs. Earlier records change no board;
   * some have results to publish.
   */
  firstNeeded(partition: number): number {
    const starts = [...this.#boards.live.values()].map((live) => live.starts?.get(partition) ?? 0);
    return starts.length === 0 ? 0 : Math.min(...starts);
  }

  /**
   * Deletes the expired views of all live boards. Reads and events never see an expired view, so
   * this only frees memory.
   * @throws after all boards were tried, if one failed
   */
  async deleteExpiredViews(logger: Logger, signal: AbortSignal): Promise<void> {
    const failures: string[] = [];
    for (const live of this.#boards.live.values()) {
      try {
        const count = await this.#deleteExpiredViewsOf(live, signal);
        if (count > 0) logger.info(`board "${live.board}": removed ${count} expired view(s)`);
      } catch (error) {
        failures.push(`board "${live.board}": ${toError(error).message}`);
      }
    }
    if (failures.length > 0) throw new Error(failures.join('; '));
  }

  /**
   * Deletes until no expired view is left: while ingest catches up, many may expire during one
   * call.
   */
  async #deleteExpiredViewsOf(live: LiveBoard, signal: AbortSignal): Promise<number> {
    let total = 0;
    while (!signal.aborted) {
      const count = await this.store.sweep(live);
      if (count === 0) break;
      total += count;
    }
    return total;
  }

  /** Reads the boards; undefined if Redis has none, or has lost one. */
  async #read(): Promise<Boards | undefined> {
    if (!(await this.store.areRegistered())) return undefined;
    const boards = await this.store.boards();
    const { live, building, removed } = boards;
    const known = [...this.#boards.live.keys(), ...this.#boards.building];
    const isComplete = known.every(
      (board) => live.has(board) || building.has(board) || removed.has(board),
    );
    const isEmpty = live.size + building.size + removed.size === 0;
    return isComplete && !isEmpty ? boards : undefined;
  }
}
