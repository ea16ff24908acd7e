import { isDeepStrictEqual } from 'node:util';
import type { BoardDefinition } from '#board';
import type { ComparisonCursor, Difference, TooManyViews } from '#board-store';
import type { ShadowWork } from '../runs/log-pass.js';
import { takeOverWithRetries } from '../runs/player-records.js';
import type { ReconcilerParts, RunOptions } from '../runs/reconciler-parts.js';
import { AppliedBeyondLogError } from '../runs/run-errors.js';

export interface VerifyOptions extends RunOptions {
  /** How many differences of a board are reported; all are counted. */
  readonly mostDifferences?: number | undefined;
}

const MOST_DIFFERENCES = 1_000;

interface Compared extends Pick<VerifyOptions, 'mostDifferences'> {
  /** The live generation when the shadow was planned. */
  readonly generation: string;
}

interface Findings {
  /** How many places the shadow has; all of them were compared. */
  readonly places: number;
  /** How many views the shadow has. */
  readonly views: number;
  /** The first differences; `differenceCount` counts all. */
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

/** How many differences are remembered. A remembered difference that is found again counts once. */
const MOST_REMEMBERED = 10_000;

/** Collects differences: counts all, and keeps the first `most`. */
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

/** Compares a live generation with its shadow, then discards the shadow. */
export async function finishVerify(
  parts: ReconcilerParts,
  work: ShadowWork,
  { generation, mostDifferences = MOST_DIFFERENCES }: Compared,
): Promise<VerifyReport> {
  const { board, definition } = work.shadow;
  const findings = await findingsOf(parts, work, mostDifferences);
  const appliedOffsets = Object.fromEntries(work.queue.appliedOffsets());
  await parts.generations.discard(work.lease, work.shadow);

  const isComparable = findings.tooManyViews === undefined;
  const equal = isComparable ? findings.differenceCount === 0 : null;
  return { board, generation, definition, ...findings, equal, appliedOffsets };
}

async function findingsOf(
  parts: ReconcilerParts,
  work: ShadowWork,
  mostDifferences: number,
): Promise<Findings> {
  try {
    return await takeOverAndCompare(
      () => takeOverWithRetries(parts, work),
      () => compare(parts, work, mostDifferences),
    );
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

/**
 * Takes over player records from before the start of the shadow (see `takeOverRecords`), then
 * compares. If live ingest has applied more of them meanwhile, they may have caused the
 * differences. Then it compares again.
 */
export async function takeOverAndCompare<F extends Pick<Findings, 'differenceCount'>>(
  takeOver: () => Promise<Record<string, number>>,
  compareAll: () => Promise<F>,
): Promise<F> {
  for (;;) {
    const takenOver = await takeOver();
    const findings = await compareAll();
    const isEqual = findings.differenceCount === 0;
    if (isEqual || isDeepStrictEqual(takenOver, await takeOver())) return findings;
  }
}

/**
 * Compares page by page, each at equal applied offsets, so traffic causes no false difference.
 * @throws RestartError
 */
async function compare(
  { generations }: ReconcilerParts,
  { lease, shadow, catchUp, progress }: ShadowWork,
  mostDifferences: number,
): Promise<Findings> {
  const found = new Differences(mostDifferences);
  let places = 0;
  let views = 0;
  let cursor: ComparisonCursor | undefined;
  do {
    const page = await catchUp.reach((stretches) =>
      generations.compare(lease, shadow, stretches, cursor),
    );
    const { tooManyViews } = page;
    if (tooManyViews.expected > 0 || tooManyViews.found > 0)
      return { ...NOTHING_COMPARED, tooManyViews };

    found.add(page.differences);
    places += page.places;
    views += page.views;
    progress.setPlaces('compared', places);
    await catchUp.waitForThrottle(page.compared);
    cursor = page.next;
  } while (cursor !== undefined);
  return { places, views, differences: found.kept, differenceCount: found.count };
}

/** How a comparison ended, for the status of the board. */
export function comparisonOutcome({ equal, places, views, differenceCount }: VerifyReport): string {
  if (equal === null) return 'not comparable: events were refused for maxViews';
  const compared = `${places} places in ${views} views compared`;
  return equal ? `${compared}; no difference` : `${compared}; ${differenceCount} difference(s)`;
}
