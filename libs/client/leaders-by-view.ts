import {
  canonicalView,
  leaderMovements,
  type Leader,
  type LeaderChange,
  type LeaderMovements,
} from '#contracts';

export interface LeaderStep extends LeaderMovements {
  readonly top: readonly Leader[];
  /**
   * Whether leader changes before this one are missing or were never published. The movements still
   * lead from the known top.
   */
  readonly gap: boolean;
}

/** The fields of a leader change that LeadersByView uses. */
type TopOfView = Pick<LeaderChange, 'board' | 'view' | 'version' | 'since' | 'top'>;

/**
 * The top N of views, from leader changes in any order: the newest of a view counts. Keeps the top
 * of a view until `forget`.
 */
export class LeadersByView {
  readonly #newest = new Map<string, Pick<LeaderChange, 'version' | 'top'>>();

  /** Applies a leader change. Returns its step; undefined if it is not newer than the known top. */
  take({ board, view, version, since, top }: TopOfView): LeaderStep | undefined {
    const known = this.#newest.get(keyOf(board, view));
    if (known !== undefined && version <= known.version) return undefined;
    this.#newest.set(keyOf(board, view), { version, top });

    const before = (known?.top ?? []).map(({ playerId }) => playerId);
    const gap = since !== (known?.version ?? null);
    return { ...leaderMovements(before, top), top, gap };
  }

  /**
   * The top of a view, best first; empty for an unknown view. Its values may be percent-encoded in
   * any way.
   * @throws MalformedViewError for a text that names no view
   */
  top(board: string, view: string): readonly Leader[] {
    return this.#newest.get(keyOf(board, canonicalView(view)))?.top ?? [];
  }

  /**
   * Frees the memory of a view, for example after its window has expired.
   * @throws MalformedViewError for a text that names no view
   */
  forget(board: string, view: string): void {
    this.#newest.delete(keyOf(board, canonicalView(view)));
  }
}

/** Names have no control characters. */
const keyOf = (board: string, view: string) => `${board}\n${view}`;
