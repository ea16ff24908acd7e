import { leaderMovements, type Leader, type LeaderChange, type LeaderMovements } from '#contracts';

/** A step from the top that was kept to a newer one. */
export interface LeaderStep extends LeaderMovements {
  readonly top: readonly Leader[];
  /**
   * Whether leader changes lie between the two tops, or the kept one was never reported: the change does not start
   * from the kept top. The movements are right all the same: from the kept top to the new one.
   */
  readonly gap: boolean;
}

interface Kept {
  readonly version: number;
  readonly top: readonly Leader[];
}

const NOTHING: Pick<Kept, 'top'> & { readonly version: null } = { version: null, top: [] };

/**
 * The top N of views, from leader changes in whatever order they come: of each view the newest one counts. Memory:
 * one top for each view that was seen and not forgotten.
 */
export class LeadersByView {
  readonly #boards = new Map<string, Map<string, Kept>>();

  /** Takes a leader change: the step that it makes, or undefined when one of the same version or a newer one was taken. */
  take({ board, view, version, since, top }: LeaderChange): LeaderStep | undefined {
    const kept = this.#kept(board, view);
    if (kept.version !== null && version <= kept.version) return undefined;
    const views = this.#boards.get(board) ?? new Map<string, Kept>();
    this.#boards.set(board, views.set(view, { version, top }));
    const before = kept.top.map(({ playerId }) => playerId);
    return { ...leaderMovements(before, top), top, gap: since !== kept.version };
  }

  /** The top of a view, best first; empty for one that was never seen. */
  top(board: string, view: string): readonly Leader[] {
    return this.#kept(board, view).top;
  }

  /** Gives back the memory of a view, such as one whose window has expired. */
  forget(board: string, view: string): void {
    const views = this.#boards.get(board);
    views?.delete(view);
    if (views?.size === 0) this.#boards.delete(board);
  }

  #kept(board: string, view: string): Kept | typeof NOTHING {
    return this.#boards.get(board)?.get(view) ?? NOTHING;
  }
}
