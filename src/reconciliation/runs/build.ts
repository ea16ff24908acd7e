import type { BoardDefinition } from '#board';
import { BoardsLostError } from './errors.js';
import {
  GenerationRun,
  type Attempt,
  type ReconcilerParts,
  type RunOptions,
  type RunWork,
  type ShadowAtWork,
} from './generation-run.js';
import { promote, type PromotionReport } from './promote.js';
import { planShadow, type From, type OpenPlanned } from './shadow-plan.js';

export interface BuildOptions extends RunOptions {
  /** Begins at this time, or at the start of the log, instead of where the live generation begins. */
  readonly from?: From | undefined;
  /** Builds from the rest of the log if its beginning is gone. */
  readonly allowPartialHistory?: boolean | undefined;
  /** Builds only first generations: skips boards that are live when an attempt begins, as another process has built them. */
  readonly isFirst?: boolean | undefined;
}

export interface BuildReport extends PromotionReport {
  /** How many offsets the generation covers, from its start in the log on: also those of other boards' records. */
  readonly records: number;
  readonly seconds: number;
}

/** Builds boards from the log, all in one pass over it; each goes live as soon as it is caught up. */
export class Build implements RunWork<void> {
  readonly kind = 'build' as const;
  readonly #reports: BuildReport[] = [];
  /** Boards that this build has made live, or another process has built. */
  readonly #done = new Set<string>();
  /** For each board that this build has registered: whether it was a removed board before. */
  readonly #registered = new Map<string, boolean>();

  constructor(
    private readonly parts: ReconcilerParts,
    private readonly definitions: readonly BoardDefinition[],
    private readonly options: BuildOptions,
  ) {}

  async run(): Promise<BuildReport[]> {
    await new GenerationRun(this.parts, this, this.options).run();
    return this.#reports;
  }

  boards(): readonly string[] {
    return this.#waiting.map(({ board }) => board);
  }

  /** The boards left to build: not those that an earlier attempt made live, whose leases may be held elsewhere by now. */
  get #waiting(): BoardDefinition[] {
    return this.definitions.filter(({ board }) => !this.#done.has(board));
  }

  async plan({ leases, signal }: Attempt): Promise<ReadonlyMap<string, OpenPlanned>> {
    const { live } = await this.parts.store.boards();
    if (this.options.isFirst === true)
      for (const { board } of this.#waiting.filter((waiting) => live.has(waiting.board))) {
        this.#done.add(board);
        await leases.leave(board);
      }
    const { from, allowPartialHistory } = this.options;
    const planned = new Map<string, OpenPlanned>();
    for (const definition of this.#waiting) {
      const { board } = definition;
      const starts = live.get(board)?.starts;
      const request = { definition, purpose: this.kind, starts, from, allowPartialHistory };
      planned.set(board, await planShadow({ ...this.parts, signal }, request));
    }
    await this.#registerNew();
    return planned;
  }

  /**
   * Registers new boards. Otherwise their events would become dead letters until the boards are live.
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

  /** Undoes the registration of boards that are not live: removes those that were removed before, unregisters the rest. */
  async undo({ leases }: Attempt): Promise<void> {
    const { store, generations } = this.parts;
    const { building } = await store.boards();
    for (const { board } of this.#waiting) {
      const wasRemoved = this.#registered.get(board);
      if (wasRemoved === undefined || !building.has(board)) continue;
      await generations.remove(leases.lease(board), { unregisters: !wasRemoved });
    }
  }

  async finish(at: ShadowAtWork): Promise<void> {
    const begun = performance.now();
    const promotion = await promote(this.parts, at);
    const { board, generation } = promotion;
    const seconds = (performance.now() - begun) / 1_000;
    const records = at.queue.progress.done;
    this.#reports.push({ ...promotion, records, seconds });
    this.#done.add(board);
    await at.end(`${records} records in ${seconds.toFixed(1)} s; live as generation ${generation}`);
  }
}
