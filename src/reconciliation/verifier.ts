import type {
  ComparedViews,
  CompareResult,
  CompareStep,
  CompareViewsStep,
  Difference,
  GenerationStore,
  Lease,
  Shadow,
  TooManyViews,
} from '#board-store';
import type { CatchUp } from './catch-up.js';
import { Differences, MOST_TOLD } from './differences.js';

const WALKS = ['shadow', 'live', 'ranking'] as const;
const WALKS_OF_VIEWS = ['shadow', 'live'] as const;

/** What a comparison has found. */
export interface Findings {
  /** Places of players in views that the log makes. */
  readonly places: number;
  readonly views: number;
  readonly differences: readonly Difference[];
  readonly differenceCount: number;
  /** Present where events were refused for `maxViews`: then the two can't be compared, and no difference is told. */
  readonly tooManyViews?: TooManyViews;
}

/**
 * Compares a shadow of the live definition with the live generation, some players a call, each at equal watermarks: so
 * traffic makes no difference. Every view is walked three times: who should be there, who is there, and the order. All on
 * one server of Redis: on another one, what was walked says nothing of what is left.
 */
export class Verifier {
  /** Where the comparison began. */
  #server: string | undefined;

  constructor(
    private readonly generations: GenerationStore,
    private readonly lease: Lease,
    private readonly shadow: Shadow,
  ) {}

  /**
   * Cost: a call for each 500 players, view and walk, and for some hundred views. A view that expires meanwhile is none that
   * differs: one generation may be swept before the other. @throws ServerChangedError
   */
  async compare(
    catchUp: CatchUp,
    { mostDifferences = MOST_TOLD, onPlaces }: CompareOptions,
  ): Promise<Findings> {
    const found = new Differences(mostDifferences);
    let [places, views] = [0, 0];
    for await (const page of this.#pages(catchUp, [...WALKS_OF_VIEWS, 'eventIds'])) {
      if (hasRefused(page.tooManyViews)) return notCompared(page);
      found.add(page.differences);
      await catchUp.keepPace(page.eventIds);
      views += page.views.length;
      for (const view of page.views)
        for await (const { walk, step } of this.#walks(catchUp, view)) {
          found.add(step.differences);
          if (walk === 'shadow') {
            places += step.players;
            onPlaces(step.players);
          }
          await catchUp.keepPace(step.players);
        }
    }
    const standing = new Set<string>();
    for await (const page of this.#pages(catchUp, WALKS_OF_VIEWS)) {
      if (hasRefused(page.tooManyViews)) return notCompared(page);
      found.add(page.differences);
      for (const view of page.views) if (found.hasView(view)) standing.add(view);
    }
    found.keepViews(standing);
    return { places, views, differences: found.kept, differenceCount: found.count };
  }

  /** The views of both, and what deduplicate remembers, some hundred at a time. */
  async *#pages(
    catchUp: CatchUp,
    walks: readonly CompareViewsStep['walk'][],
  ): AsyncGenerator<ComparedViews> {
    const { generations, lease, shadow } = this;
    for (const walk of walks) {
      let cursor = '0';
      do {
        const server = this.#server === undefined ? {} : { server: this.#server };
        const step = { ...server, walk, cursor };
        const page = await catchUp.reach((stretches) =>
          generations.compareViews(lease, shadow, stretches, step),
        );
        this.#server ??= page.server;
        yield page;
        cursor = page.cursor;
      } while (cursor !== '0');
    }
  }

  async *#walks(
    catchUp: CatchUp,
    view: string,
  ): AsyncGenerator<{ walk: CompareStep['walk']; step: CompareResult }> {
    for (const walk of WALKS)
      for await (const step of this.#walk(catchUp, { view, walk })) yield { walk, step };
  }

  async *#walk(
    catchUp: CatchUp,
    { view, walk }: Pick<CompareStep, 'view' | 'walk'>,
  ): AsyncGenerator<CompareResult> {
    const { generations, lease, shadow } = this;
    const server = this.#server ?? '';
    let cursor = '0';
    do {
      const step = { server, view, walk, cursor };
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
  /** Called with the number of newly compared places; the sum is `places` of the findings. */
  readonly onPlaces: (places: number) => void;
}

function hasRefused({ expected, found }: TooManyViews): boolean {
  return expected > 0 || found > 0;
}

function notCompared({ tooManyViews }: ComparedViews): Findings {
  return { places: 0, views: 0, differences: [], differenceCount: 0, tooManyViews };
}
