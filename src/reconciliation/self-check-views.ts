import type { LiveBoard } from '#board-store';

/** How many views of a board are remembered. */
const MOST_VIEWS = 200;

interface Known {
  readonly generation: string;
  readonly views: Set<string>;
}

/**
 * The views of live generations that were there once: one that is missing among the known ones, though it has players,
 * would not be met by chance.
 */
export class RememberedViews {
  readonly #known = new Map<string, Known>();

  /** Adds views of a board, and answers one of all that are remembered; undefined when there is none. `random` is from 0 to 1. */
  choose(
    { board, generation }: LiveBoard,
    views: readonly string[],
    random: number,
  ): string | undefined {
    let known = this.#known.get(board);
    if (known?.generation !== generation) {
      known = { generation, views: new Set() };
      this.#known.set(board, known);
    }
    for (const view of views) known.views.add(view);
    for (const view of known.views) {
      if (known.views.size <= MOST_VIEWS) break;
      known.views.delete(view); // the one remembered for the longest
    }
    return [...known.views][Math.floor(random * known.views.size)];
  }
}
