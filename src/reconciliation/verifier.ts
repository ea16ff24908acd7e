import type {
  ComparedViews,
  CompareResult,
  CompareStep,
  Difference,
  GenerationStore,
  Lease,
  Shadow,
  TooManyViews,
} from '#board-store';
import type { CatchUp } from './catch-up.js';
import { Differences, MOST_TOLD } from './differences.js';

const WALKS = ['shadow', 'live', 'ranking'] as const;

/** What a comparison has found. */
export interface Findings {
  readonly players: number;
  readonly views: number;
  readonly differences: readonly Difference[];
  readonly differenceCount: number;
  /** Present where events were refused for `maxViews`: then the two can't be compared, and no difference is told. */
  readonly tooManyViews?: TooManyViews;
}

const NOT_COMPARED = { players: 0, views: 0, differences: [], differenceCount: 0 };

/**
 * Compares a shadow of the live definition with the live generation, some players a call, each at equal watermarks: so
 * traffic makes no difference. Every view is walked three times: who should be there, who is there, and the order.
 */
export class Verifier {
  constructor(
    private readonly generations: GenerationStore,
    private readonly lease: Lease,
    private readonly shadow: Shadow,
  ) {}

  /**
   * Cost: a call for each 500 players, view and walk. A view that expires meanwhile is none that differs: one generation may
   * be swept before the other.
   */
  async compare(
    catchUp: CatchUp,
    { mostDifferences = MOST_TOLD, onPlayers }: CompareOptions,
  ): Promise<Findings> {
    const found = new Differences(mostDifferences);
    const { views, differences, tooManyViews } = await this.#views(catchUp);
    if (hasRefused(tooManyViews)) return { ...NOT_COMPARED, tooManyViews };
    found.add(differences);
    let players = 0;
    for (const view of views)
      for (const walk of WALKS)
        for await (const step of this.#walk(catchUp, { view, walk })) {
          found.add(step.differences);
          if (walk === 'shadow') players += step.players;
          onPlayers(step.players);
        }
    const after = await this.#views(catchUp);
    if (hasRefused(after.tooManyViews))
      return { ...NOT_COMPARED, tooManyViews: after.tooManyViews };
    found.keepViews(new Set(after.views));
    found.add(after.differences);
    return { players, views: views.length, differences: found.kept, differenceCount: found.count };
  }

  #views(catchUp: CatchUp): Promise<ComparedViews> {
    const { generations, lease, shadow } = this;
    return catchUp.reach((stretches) => generations.compareViews(lease, shadow, stretches));
  }

  async *#walk(
    catchUp: CatchUp,
    { view, walk }: Omit<CompareStep, 'cursor'>,
  ): AsyncGenerator<CompareResult> {
    const { generations, lease, shadow } = this;
    let cursor = '0';
    do {
      const step = { view, walk, cursor };
      const result = await catchUp.reach((stretches) =>
        generations.compare(lease, shadow, stretches, step),
      );
      yield result;
      cursor = result.cursor;
    } while (cursor !== '0');
  }
}

export interface CompareOptions {
  readonly mostDifferences?: number | undefined;
  /** Hears how many players a call compared. */
  readonly onPlayers: (players: number) => void;
}

function hasRefused({ expected, found }: TooManyViews): boolean {
  return expected > 0 || found > 0;
}
