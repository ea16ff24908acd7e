import type { BoardDefinition } from '#board';
import { BoardsLostError } from './errors.js';
import { runLeased, type Attempt } from './leased-run.js';
import { makeLive } from './promote.js';
import type { BuildReport } from './reports.js';
import { ShadowPlanner, type From } from './shadow-plan.js';
import {
  ShadowTasks,
  type ReconcilerParts,
  type RunOptions,
  type ShadowAtWork,
  type Task,
} from './shadow-tasks.js';

export interface BuildOptions extends RunOptions {
  /** Events before this time are left out; without it, those that the live generation lacks. */
  readonly from?: From | undefined;
  /** Takes what of the log there is, where its beginning is gone. */
  readonly allowPartialHistory?: boolean | undefined;
  /** Boards that are live by the time that they could be built are left alone: somebody else has built them. */
  readonly isFirst?: boolean | undefined;
}

/** Builds boards from the log, all in one pass over it; each goes live when it is there. */
export class Build {
  readonly #reports = new Map<string, BuildReport>();
  /** Boards that others have made live. */
  readonly #left = new Set<string>();
  /** Boards that are known since this run alone, and whether they were removed ones before. */
  readonly #registered = new Map<string, boolean>();

  constructor(
    private readonly parts: ReconcilerParts,
    private readonly definitions: readonly BoardDefinition[],
    private readonly options: BuildOptions,
  ) {}

  async run(): Promise<BuildReport[]> {
    const { leases, store, logger } = this.parts;
    const { signal, keepsShadows = false } = this.options;
    const boards = () => this.#waiting.map(({ board }) => board);
    const leased = { leases, store, logger, kind: 'build' as const, boards, signal, keepsShadows };
    await runLeased(leased, (attempt) => this.#attempt(attempt));
    return [...this.#reports.values()];
  }

  /** Boards that an attempt before has made live are done: somebody else may be at work on them already. */
  get #waiting(): BoardDefinition[] {
    const isOver = (board: string) => this.#reports.has(board) || this.#left.has(board);
    return this.definitions.filter(({ board }) => !isOver(board));
  }

  async #attempt(attempt: Attempt): Promise<void> {
    if (this.options.isFirst === true) await this.#leaveLive(attempt);
    const planner = new ShadowPlanner({ ...this.parts, signal: attempt.signal });
    const { from, allowPartialHistory } = this.options;
    const { live } = await this.parts.store.boards();
    const tasks: Task<void>[] = [];
    for (const definition of this.#waiting) {
      const { board } = definition;
      const starts = live.get(board)?.starts;
      const wish = { definition, purpose: 'build' as const, starts, from, allowPartialHistory };
      const open = await planner.plan(wish);
      const finish = (at: ShadowAtWork) => this.#finish(at, attempt.signal);
      tasks.push({ board, open, isResumable: true, finish });
    }
    await this.#registerNew();
    try {
      await new ShadowTasks(this.parts, attempt, this.options).run(tasks);
    } catch (error) {
      const { signal, keepsShadows = false } = this.options;
      if (signal.aborted && !keepsShadows) await this.#unregisterNew(attempt);
      throw error;
    }
  }

  async #leaveLive({ keeper }: Attempt): Promise<void> {
    const { live } = await this.parts.store.boards();
    for (const { board } of this.#waiting.filter((waiting) => live.has(waiting.board))) {
      this.#left.add(board);
      await keeper.leave(board);
    }
  }

  /**
   * The events of a board that is registered wait for it: without that, they would become dead letters until it is live.
   * @throws BoardsLostError
   */
  async #registerNew(): Promise<void> {
    const { store, definitions } = this.parts;
    const { live, building, removed } = await store.boards();
    const isNew = ({ board }: BoardDefinition) => !live.has(board) && !building.has(board);
    const unknown = this.#waiting.filter(isNew);
    if (unknown.length === 0) return;
    if (!(await store.areRegistered()) && (await definitions.readAll()).size > 0)
      throw new BoardsLostError();
    for (const { board } of unknown) this.#registered.set(board, removed.has(board));
    await store.registerBoards(unknown);
  }

  /**
   * All is as it was: boards that only this run has made known, and that are not live, are unknown again, or removed. One that
   * is unknown is made known again by any process whose file has it.
   */
  async #unregisterNew({ keeper }: Attempt): Promise<void> {
    const { store, generations } = this.parts;
    const { building } = await store.boards();
    for (const { board } of this.#waiting) {
      const wasRemoved = this.#registered.get(board);
      if (wasRemoved === undefined || !building.has(board)) continue;
      const lease = keeper.lease(board);
      await (wasRemoved ? generations.remove(lease) : generations.unregister(lease));
    }
  }

  async #finish(at: ShadowAtWork, signal: AbortSignal): Promise<void> {
    const begun = performance.now();
    const { shadow, catchUp } = at;
    const promotion = await makeLive(this.parts, at, signal);
    const seconds = (performance.now() - begun) / 1_000;
    const records = catchUp.counts.done;
    const starts = shadow.starts && { starts: shadow.starts };
    this.#reports.set(shadow.board, { ...promotion, ...starts, records, seconds });
    const outcome = `${records} records in ${seconds.toFixed(1)} s; live as generation ${promotion.generation}`;
    await at.end(outcome);
  }
}
