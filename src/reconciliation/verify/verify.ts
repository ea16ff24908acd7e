import type { BoardDefinition } from '#board';
import type { ComparisonCursor, Difference, TooManyViews } from '#board-store';
import { AppliedBeyondLogError } from '../runs/errors.js';
import {
  GenerationRun,
  type Attempt,
  type ReconcilerParts,
  type RunOptions,
  type RunWork,
  type ShadowAtWork,
} from '../runs/generation-run.js';
import { planShadow, type OpenPlanned } from '../runs/shadow-plan.js';

export interface VerifyOptions extends RunOptions {
  /** How many differences of a board are reported; all are counted. */
  readonly mostDifferences?: number | undefined;
}

const MOST_DIFFERENCES = 1_000;

interface Findings {
  /** How many places, in how many views, the shadow has; all of them were compared. */
  readonly places: number;
  readonly views: number;
  /** The first ones; `differenceCount` counts all. */
  readonly differences: readonly Difference[];
  readonly differenceCount: number;
  /** Why the board can't be compared: events were refused for `maxViews`. */
  readonly tooManyViews?: TooManyViews;
}

export interface VerifyReport extends Findings {
  readonly board: string;
  readonly generation: string;
  readonly definition: BoardDefinition;
  /** null if the board can't be compared. */
  readonly equal: boolean | null;
  /** By partition, an offset up to which the comparison includes all events. */
  readonly appliedOffsets: Readonly<Record<string, number>>;
}

const NOTHING_COMPARED = { places: 0, views: 0, differences: [], differenceCount: 0 };

/** How many differences are remembered, so that they are recognised when they are found again. */
const MOST_REMEMBERED = 10_000;

/** Collects differences: counts all, and keeps the first `most`. A remembered difference that is found again counts once. */
export class Differences {
  readonly #found = new Map<string, Difference>();
  #notRemembered = 0;

  constructor(private readonly most: number) {}

  get count(): number {
    return this.#found.size + this.#notRemembered;
  }

  get kept(): Difference[] {
    return [...this.#found.values()].slice(0, this.most);
  }

  add(differences: readonly Difference[]): void {
    for (const difference of differences) {
      const { kind, view, partition, playerId } = difference;
      const name = JSON.stringify([kind, view, partition, playerId]);
      if (this.#found.has(name) || this.#found.size < MOST_REMEMBERED)
        this.#found.set(name, difference);
      else this.#notRemembered += 1;
    }
  }
}

/** Compares live boards with builds from the log, all in one pass over it. Does not change the boards. */
export class Verify implements RunWork<VerifyReport> {
  readonly kind = 'verify' as const;
  /** The live generations that are compared, by board. */
  readonly #generations = new Map<string, string>();

  constructor(
    private readonly parts: ReconcilerParts,
    private readonly names: readonly string[],
    private readonly options: VerifyOptions,
  ) {}

  async run(): Promise<VerifyReport[]> {
    for (const board of this.names) await this.parts.store.liveBoard(board);
    return new GenerationRun(this.parts, this, this.options).run();
  }

  boards(): readonly string[] {
    return this.names;
  }

  async plan({ signal }: Attempt): Promise<ReadonlyMap<string, OpenPlanned>> {
    const planned = new Map<string, OpenPlanned>();
    for (const board of this.names) {
      const { generation, definition, starts } = await this.parts.store.liveBoard(board);
      this.#generations.set(board, generation);
      const request = { definition, starts, purpose: this.kind };
      planned.set(board, await planShadow({ ...this.parts, signal }, request));
    }
    return planned;
  }

  async finish(at: ShadowAtWork): Promise<VerifyReport> {
    const { board, definition } = at.shadow;
    const generation = this.#generations.get(board) ?? '';
    const findings = await this.#findings(at);
    const appliedOffsets = Object.fromEntries(at.queue.appliedOffsets());
    await this.parts.generations.discard(at.lease, at.shadow);
    const equal = findings.tooManyViews === undefined ? findings.differenceCount === 0 : null;
    const report = { board, generation, definition, ...findings, equal, appliedOffsets };
    await at.end(outcomeOf(report), equal);
    return report;
  }

  async #findings(at: ShadowAtWork): Promise<Findings> {
    try {
      return await this.#compare(at);
    } catch (error) {
      if (!(error instanceof AppliedBeyondLogError)) throw error;
      const differences = error.partitions.map(({ partition, appliedOffset, logEnd }) => ({
        view: '',
        kind: 'appliedOffset' as const,
        expected: `partition ${partition}: at most ${logEnd - 1}`,
        found: `${appliedOffset}`,
      }));
      return { ...NOTHING_COMPARED, differences, differenceCount: differences.length };
    }
  }

  /** Compares page by page, each at equal applied offsets, so traffic causes no false difference. @throws RestartError */
  async #compare({ lease, shadow, catchUp, progress }: ShadowAtWork): Promise<Findings> {
    const { generations } = this.parts;
    const found = new Differences(this.options.mostDifferences ?? MOST_DIFFERENCES);
    let [places, views] = [0, 0];
    let cursor: ComparisonCursor | undefined;
    do {
      const from = cursor;
      const page = await catchUp.reach((stretches) =>
        generations.compare(lease, shadow, stretches, from),
      );
      const { tooManyViews } = page;
      if (tooManyViews.expected > 0 || tooManyViews.found > 0)
        return { ...NOTHING_COMPARED, tooManyViews };
      found.add(page.differences);
      places += page.places;
      views += page.views;
      progress.countPlaces('compared', page.places);
      await catchUp.throttle(page.compared);
      cursor = page.next;
    } while (cursor !== undefined);
    return { places, views, differences: found.kept, differenceCount: found.count };
  }
}

function outcomeOf({ equal, places, views, differenceCount }: VerifyReport): string {
  if (equal === null) return 'not comparable: events were refused for maxViews';
  const compared = `${places} places in ${views} views compared`;
  return equal ? `${compared}; no difference` : `${compared}; ${differenceCount} difference(s)`;
}
