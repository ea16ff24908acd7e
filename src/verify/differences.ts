import type { Difference } from '#board-store';

/** The differences of players in one view. */
interface OfView {
  count: number;
  readonly kept: Map<string, Difference>;
}

/** Collects differences: counts all, and keeps the first ones. A kept one that is found twice counts once. */
export class Differences {
  /** Differences of whole views, and of the board. */
  readonly #whole = new Map<string, Difference>();
  readonly #ofViews = new Map<string, OfView>();

  constructor(private readonly most: number) {}

  get count(): number {
    return [...this.#ofViews.values()].reduce((sum, { count }) => sum + count, this.#whole.size);
  }

  get kept(): Difference[] {
    return [this.#whole, ...[...this.#ofViews.values()].map(({ kept }) => kept)]
      .flatMap((some) => [...some.values()])
      .slice(0, this.most);
  }

  add(differences: readonly Difference[]): void {
    for (const difference of differences)
      if (difference.playerId === undefined) this.#whole.set(wholeName(difference), difference);
      else this.#addPlayer(difference.playerId, difference);
  }

  #addPlayer(playerId: string, difference: Difference): void {
    const { view, kind } = difference;
    const ofView = this.#ofViews.get(view) ?? { count: 0, kept: new Map<string, Difference>() };
    this.#ofViews.set(view, ofView);
    const name = `${kind} ${playerId}`;
    if (ofView.kept.has(name)) return;
    ofView.count += 1;
    if (ofView.kept.size < this.most) ofView.kept.set(name, difference);
  }
}

function wholeName({ kind, view, partition }: Difference): string {
  return `${kind} ${partition ?? ''} ${view}`;
}
