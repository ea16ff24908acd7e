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

/** The fields of a leader change that are used. */
type TopOfView = Pick<LeaderChange, 'board' | 'view' | 'version' | 'since' | 'top'>;

/**
 * The top N of views, from leader changes in any order: the newest of a view counts. Keeps the top
 * of a view until `forget`.
 */
export class LeadersByView {
  readonly #newest = new Map<string, Pick<LeaderChange, 'version' | 'top'>>();

  /**
   * Applies a leader change. Returns its step, or undefined if this version or a newer one was
   * applied before.
   */
  take({ board, view, version, since, top }: TopOfView): LeaderStep | undefined {
    const known = this.#newest.get(keyOf(board, view));
    if (known !== undefined && version <= known.version) return undefined;
    this.#newest.set(keyOf(board, view), { version, top });
    const before = (known?.top ?? []).map(({ playerId }) => playerId);
    return { ...leaderMovements(before, top), top, gap: since !== (known?.version ?? null) };
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
   * Frees the memory of a view, such as one whose window has expired. Takes and throws what `top`
   * does.
   */
  forget(board: string, view: string): void {
    this.#newest.delete(keyOf(board, canonicalView(view)));
  }
}

/** Names have no control characters. */
const keyOf = (board: string, view: string) => `${board}\n${view}`;
