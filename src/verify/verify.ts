import type { ComparisonCursor, Difference, LiveBoard, ReconciliationStatus } from '#board-store';
import { Differences, MOST_TOLD } from './differences.js';
import { AppliedBeyondLogError } from '../generations/errors.js';
import { runLeased, type Attempt } from '../generations/leased-run.js';
import type { VerifyReport } from '../generations/reports.js';
import { ShadowPlanner } from '../generations/shadow-plan.js';
import {
  ShadowTasks,
  type ReconcilerParts,
  type RunOptions,
  type ShadowAtWork,
  type Task,
} from '../generations/shadow-tasks.js';

export interface VerifyOptions extends RunOptions {
  /** How many differences of a board are told; all are counted. */
  readonly mostDifferences?: number | undefined;
}

/** What a comparison has found. */
type Findings = Pick<
  VerifyReport,
  'places' | 'views' | 'differences' | 'differenceCount' | 'tooManyViews'
>;

const NOTHING_COMPARED = { places: 0, views: 0, differences: [], differenceCount: 0 };

/** Compares live boards with what the log makes of their definitions, all in one pass over it. Nothing of them is changed. */
export class Verify {
  constructor(
    private readonly parts: ReconcilerParts,
    private readonly boards: readonly string[],
    private readonly options: VerifyOptions,
  ) {}

  async run(): Promise<VerifyReport[]> {
    const { parts, boards, options } = this;
    for (const board of boards) await parts.store.liveBoard(board);
    const { leases, store, logger } = parts;
    const leased = { leases, store, logger, kind: 'verify' as const, keepsShadows: false };
    return runLeased({ ...leased, boards: () => boards, signal: options.signal }, (attempt) =>
      this.#attempt(attempt),
    );
  }

  async #attempt(attempt: Attempt): Promise<VerifyReport[]> {
    const { store } = this.parts;
    const planner = new ShadowPlanner({ ...this.parts, signal: attempt.signal });
    const tasks: Task<VerifyReport>[] = [];
    for (const board of this.boards) {
      const live = await store.liveBoard(board);
      const { definition, starts } = live;
      const open = await planner.plan({ definition, purpose: 'verify', starts });
      const finish = (at: ShadowAtWork) => this.#finish(at, live);
      tasks.push({ board, open, isResumable: false, finish });
    }
    return new ShadowTasks(this.parts, attempt, this.options).run(tasks);
  }

  async #finish(at: ShadowAtWork, live: LiveBoard): Promise<VerifyReport> {
    const { board, generation } = live;
    const findings = await this.#findings(at);
    const { appliedOffsets } = at.catchUp;
    await this.parts.generations.discard(at.lease, at.shadow);
    const equal = findings.tooManyViews === undefined ? findings.differenceCount === 0 : null;
    const report = { board, generation, ...findings, equal, appliedOffsets };
    await at.end(outcomeOf(report));
    return report;
  }

  async #findings(at: ShadowAtWork): Promise<Findings> {
    try {
      return await this.#compare(at);
    } catch (error) {
      if (!(error instanceof AppliedBeyondLogError)) throw error;
      const differences = error.partitions.map(beyondLog);
      return { ...NOTHING_COMPARED, differences, differenceCount: differences.length };
    }
  }

  /** Call by call, each at equal applied offsets: so traffic makes no difference. @throws ServerChangedError */
  async #compare({ lease, shadow, catchUp, progress }: ShadowAtWork): Promise<Findings> {
    const { generations } = this.parts;
    const found = new Differences(this.options.mostDifferences ?? MOST_TOLD);
    let [places, views] = [0, 0];
    let cursor: ComparisonCursor | undefined;
    do {
      const at = cursor;
      const step = await catchUp.reach((stretches) =>
        generations.compare(lease, shadow, stretches, at),
      );
      const { tooManyViews } = step;
      if (tooManyViews.expected > 0 || tooManyViews.found > 0)
        return { ...NOTHING_COMPARED, tooManyViews };
      found.add(step.differences);
      places += step.places;
      views += step.views;
      progress.compare(step.places);
      await catchUp.throttle(step.compared);
      cursor = step.next;
    } while (cursor !== undefined);
    return { places, views, differences: found.kept, differenceCount: found.count };
  }
}

const NOT_COMPARABLE = 'not comparable';

/** Whether a verify has ended, and had something to compare. */
export function wasCompared({ state, outcome }: ReconciliationStatus): boolean {
  return state === 'done' && outcome?.startsWith(NOT_COMPARABLE) !== true;
}

function outcomeOf({
  equal,
  places,
  views,
  differenceCount,
}: Findings & Pick<VerifyReport, 'equal'>): string {
  if (equal === null) return `${NOT_COMPARABLE}: events were refused for maxViews`;
  const compared = `${places} places in ${views} views compared`;
  return equal ? `${compared}; no difference` : `${compared}; ${differenceCount} difference(s)`;
}

function beyondLog({
  partition,
  appliedOffset,
  logEnd,
}: AppliedBeyondLogError['partitions'][number]): Difference {
  return {
    view: '',
    kind: 'appliedOffset',
    expected: `partition ${partition}: at most ${logEnd - 1}`,
    found: `${appliedOffset}`,
  };
}
