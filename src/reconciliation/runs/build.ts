import { changeVoids, withVoids, type BoardDefinition, type VoidChange } from '#board';
import type { ShadowWork } from './log-pass.js';
import { promote, type PromotionReport } from './promote.js';
import type { ReconcilerParts, RunOptions } from './reconciler-parts.js';
import { BoardsLostError } from './run-errors.js';
import type { RunLeases } from './run-leases.js';
import type { From } from './shadow-plan.js';

export interface BuildOptions extends RunOptions {
  /**
   * Begins at this time, or at the start of the log, instead of where the live generation begins.
   */
  readonly from?: From | undefined;
  /** Builds from the rest of the log if its beginning is gone. */
  readonly allowPartialHistory?: boolean | undefined;
  /** Skips boards that are live when an attempt begins: another process has built them. */
  readonly skipsLive?: boolean | undefined;
}

export interface VoidOptions extends Pick<BuildOptions, 'allowPartialHistory'>, RunOptions {
  readonly change: VoidChange;
}

export interface BuildReport extends PromotionReport {
  /** How many offsets the generation covers, including those of other boards' records. */
  readonly records: number;
  readonly seconds: number;
}

export interface ToBuild {
  readonly definitions: readonly BoardDefinition[];
  /** Builds the live definitions with other voids, in place of `definitions`. */
  readonly change?: VoidChange;
}

/**
 * The definitions to build. The process must hold the leases of the boards, so that it can't undo a
 * promotion of another process. Every build keeps the voids of the live definition.
 * @throws TooManyVoidsError, UnknownBoardError, BoardBuildingError
 */
export async function definitionsToBuild(
  { store }: Pick<ReconcilerParts, 'store'>,
  { definitions, change }: ToBuild,
  boards: ReadonlySet<string>,
): Promise<BoardDefinition[]> {
  if (change !== undefined) {
    const live = await Promise.all([...boards].map((board) => store.liveBoard(board)));
    return live.map(({ definition }) => changeVoids(definition, change));
  }

  const { live } = await store.boards();
  const wanted = definitions.filter(({ board }) => boards.has(board));
  return wanted.map((definition) => {
    const liveBoard = live.get(definition.board);
    if (liveBoard === undefined) return definition;
    return withVoids(definition, liveBoard.definition.voids);
  });
}

/** The new boards that a build registers. */
export class NewBoards {
  /** For each board that was registered: whether it was a removed board before. */
  readonly #registered = new Map<string, boolean>();

  constructor(private readonly parts: ReconcilerParts) {}

  /**
   * Registers the boards that are new, so that their events do not become dead letters during the
   * build.
   * @throws BoardsLostError
   */
  async register(boards: readonly BoardDefinition[]): Promise<void> {
    const { store, definitions } = this.parts;
    const { live, building, removed } = await store.boards();
    const unknown = boards.filter(({ board }) => !live.has(board) && !building.has(board));
    if (unknown.length === 0) return;

    if (!(await store.areRegistered()) && (await definitions.readAll()).size > 0)
      throw new BoardsLostError();
    for (const { board } of unknown) this.#registered.set(board, removed.has(board));
    await store.registerBoards(unknown);
  }

  /**
   * Undoes the registration of boards that are not live. Boards that were removed before are
   * removed again; the others are unregistered.
   */
  async unregister(boards: Iterable<string>, leases: RunLeases): Promise<void> {
    if (this.#registered.size === 0) return;
    const { store, generations } = this.parts;
    const { building } = await store.boards();
    for (const board of boards) {
      const wasRemoved = this.#registered.get(board);
      if (wasRemoved === undefined || !building.has(board)) continue;
      await generations.remove(leases.lease(board), { unregisters: !wasRemoved });
    }
  }
}

/** Makes a built generation live. */
export async function finishBuild(parts: ReconcilerParts, work: ShadowWork): Promise<BuildReport> {
  const begun = performance.now();
  const promotion = await promote(parts, work);
  const seconds = (performance.now() - begun) / 1_000;
  return { ...promotion, records: work.queue.progress.done, seconds };
}
