import { leaderMovements, type Leader, type LeaderChange, type LeaderMovements } from '#contracts';

export interface LeaderStep extends LeaderMovements {
  readonly top: readonly Leader[];
  /**
   * Whether this leader change does not start from the known top, because leader changes in between are missing or were
   * never published. The movements still lead from the known top to the new one.
   */
  readonly gap: boolean;
}

interface KnownTop {
  readonly version: number | null;
  readonly top: readonly Leader[];
}

const UNKNOWN: KnownTop = { version: null, top: [] };

/**
 * The top N of views, from leader changes in any order: the newest leader change of each view counts. Keeps one top in memory for
 * each view until the view is forgotten.
 */
export class LeadersByView {
  readonly #boards = new Map<string, Map<string, KnownTop>>();

  /** Applies a leader change. Returns its step, or undefined if this version or a newer one was applied before. */
  take({ board, view, version, since, top }: LeaderChange): LeaderStep | undefined {
    const known = this.#known(board, view);
    if (known.version !== null && version <= known.version) return undefined;
    const views = this.#boards.get(board) ?? new Map<string, KnownTop>();
    this.#boards.set(board, views.set(view, { version, top }));
    const before = known.top.map(({ playerId }) => playerId);
    return { ...leaderMovements(before, top), top, gap: since !== known.version };
  }

  /** The top of a view, best first; empty for an unknown view. */
  top(board: string, view: string): readonly Leader[] {
    return this.#known(board, view).top;
  }

  /** Frees the memory of a view, such as one whose window has expired. */
  forget(board: string, view: string): void {
    const views = this.#boards.get(board);
    views?.delete(view);
    if (views?.size === 0) this.#boards.delete(board);
  }

  #known(board: string, view: string): KnownTop {
    return this.#boards.get(board)?.get(view) ?? UNKNOWN;
  }
}
