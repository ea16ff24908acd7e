import { definitionText, type BoardDefinition } from '#board';
import {
  LeaseHeldError,
  UnknownBoardError,
  BoardBuildingError,
  type BoardStore,
  type GenerationStore,
  type LeaseStore,
  type LiveBoard,
} from '#board-store';
import type { Logger } from '../infra/logger.js';
import { CancelledError, HistoryCutError } from '../generations/errors.js';
import type { Reconciler } from '../maintenance/reconciler.js';
import type { Metrics } from '../metrics/metrics.js';
import type { VerifyReport } from '../verify/verify.js';
import { leftShadow } from '../generations/shadow-plan.js';

export interface ScheduledVerifyParts {
  readonly store: Pick<BoardStore, 'boards'>;
  readonly leases: Pick<LeaseStore, 'statuses'>;
  readonly generations: Pick<GenerationStore, 'shadow'>;
  readonly reconciler: Pick<Reconciler, 'verify' | 'build'>;
  readonly gauges: Metrics['gauges'];
  readonly log: Logger;
  /** Whether boards that differ are rebuilt. */
  readonly rebuilds: boolean;
}

/** A turn of the schedule. */
export interface Turn {
  readonly signal: AbortSignal;
  /** When the turn began, in ms. */
  readonly begun: number;
  /** A verify that another process began at most this many ms earlier belongs to the same turn. */
  readonly sameTurnMs: number;
}

/** How many differences of a board are logged. */
const MOST_LOGGED = 3;

/**
 * Verifies all live boards in one pass over the log, logs the result, sets the metrics, and, if `rebuilds` is set, rebuilds boards
 * that differ. Leaves a board to another process that works on it or has verified it in the same turn.
 */
export class ScheduledVerify {
  /** Boards whose result is in the metrics. */
  readonly #reported = new Set<string>();

  constructor(private readonly parts: ScheduledVerifyParts) {}

  /** @throws the errors of Kafka and Redis, after some retries */
  async run(turn: Turn): Promise<void> {
    const { live } = await this.parts.store.boards();
    for (const board of this.#reported) if (!live.has(board)) this.#forget(board);
    const { ours, compared } = await this.#shared(live, turn);
    try {
      const reports = await this.#verify(ours, turn);
      if (this.#report(reports) + compared === live.size)
        this.parts.gauges.ranklog_verify_last_success_timestamp_seconds.set(Date.now() / 1_000);
      await this.#rebuild(
        reports.filter(({ equal }) => equal === false),
        turn,
      );
    } catch (error) {
      if (!(error instanceof CancelledError)) throw error;
    }
  }

  /** The boards that this process verifies, and how many boards other processes have compared. */
  async #shared(live: ReadonlyMap<string, LiveBoard>, { begun, sameTurnMs }: Turn) {
    const statuses = await this.parts.leases.statuses();
    const taken = statuses
      .filter(({ board, kind }) => kind === 'verify' && live.has(board))
      .filter(({ state }) => state === 'running' || state === 'done')
      .filter(({ startedAt }) => startedAt >= begun - sameTurnMs);
    const running = statuses.filter(({ state }) => state === 'running');
    const ours: string[] = [];
    for (const [board, found] of live) {
      const isBusy = running.some((by) => by.board === board); // its lease will refuse this process
      if (taken.some((by) => by.board === board)) this.#forget(board);
      else if (isBusy || !(await this.#hasLeftShadow(board, found))) ours.push(board);
    }
    return { ours, compared: taken.filter(({ equal }) => typeof equal === 'boolean').length };
  }

  /**
   * Whether a killed build or snapshot has left a shadow that a verify would discard; warns of it. If the schedule rebuilds, a
   * killed build of the live definition does not count: it may be the schedule's own, and nothing else would continue it.
   */
  async #hasLeftShadow(board: string, { definition }: LiveBoard): Promise<boolean> {
    const { generations, rebuilds } = this.parts;
    const left = await leftShadow(generations, board);
    if (left === undefined) return false;
    const isRepair =
      left.purpose === 'build' && definitionText(left.definition) === definitionText(definition);
    if (rebuilds && isRepair) return false;
    this.#forget(board);
    this.parts.log.warn(
      `board "${board}" is not verified: that would discard what a killed ${left.purpose} has built (generation ${left.generation}); ` +
        `run the ${left.purpose} again, or discard that generation with "ranklog boards discard ${left.generation}"`,
    );
    return true;
  }

  /** Verifies the boards that can be verified: begins again without those for which the reconciler throws. */
  async #verify(boards: readonly string[], { signal }: Turn): Promise<readonly VerifyReport[]> {
    const { reconciler } = this.parts;
    let rest = boards;
    while (rest.length > 0) {
      try {
        return await reconciler.verify(rest, { signal, mostDifferences: MOST_LOGGED });
      } catch (error) {
        const left = this.#leftOut(error);
        if (!rest.some((board) => left.includes(board))) throw error;
        rest = rest.filter((board) => !left.includes(board));
      }
    }
    return [];
  }

  /** Returns the boards that an error refuses; logs the reason, unless they were removed meanwhile. */
  #leftOut(error: unknown): readonly string[] {
    const { log } = this.parts;
    if (error instanceof LeaseHeldError) {
      this.#forget(error.board);
      log.debug(`board "${error.board}" is not verified now: ${error.holder} works on it`);
      return [error.board];
    }
    if (error instanceof UnknownBoardError || error instanceof BoardBuildingError)
      return [error.board]; // removed meanwhile
    if (!(error instanceof HistoryCutError)) return [];
    for (const board of error.boards) {
      this.#forget(board);
      log.error(`board "${board}" can't be verified: ${error.message}`);
    }
    return error.boards;
  }

  /** Logs the results and sets the metrics. Returns how many boards were compared. */
  #report(reports: readonly VerifyReport[]): number {
    const { log } = this.parts;
    const compared = reports.filter(({ equal }) => equal !== null);
    for (const { board } of reports.filter((report) => !compared.includes(report))) {
      this.#forget(board);
      log.warn(
        `board "${board}" can't be verified: events were refused for its maxViews, and which ones depends on how the partitions interleaved; ` +
          'raise maxViews, and apply the change',
      );
    }
    for (const report of compared) this.#reportCompared(report);
    return compared.length;
  }

  #reportCompared(report: VerifyReport): void {
    const { gauges, log } = this.parts;
    const { board, equal, differenceCount, places, views } = report;
    this.#reported.add(board);
    gauges.ranklog_verify_equal.set({ board }, Number(equal));
    gauges.ranklog_verify_differences.set({ board }, differenceCount);
    const compared = `${places} places in ${views} views`;
    if (equal === true)
      log.info(`board "${board}" is what the log makes of it: ${compared} verified`);
    else
      log.error(
        `board "${board}" has ${differenceCount} difference(s) to the log in ${compared}, such as ${differences(report)}`,
        { differences: report.differences },
      );
  }

  async #rebuild(damaged: readonly VerifyReport[], { signal }: Turn): Promise<void> {
    const { reconciler, store, log, rebuilds } = this.parts;
    if (!rebuilds || damaged.length === 0) return;
    const { live } = await store.boards();
    const definitions = damaged.flatMap(({ board, generation }): BoardDefinition[] => {
      const found = live.get(board);
      return found?.generation === generation ? [found.definition] : []; // else rebuilt meanwhile
    });
    for (const { board, generation, starts } of await reconciler.build(definitions, { signal })) {
      const partial = starts === undefined ? '' : ', which begins where the one before did';
      log.info(
        `board "${board}" was built again, and is live as generation ${generation}${partial}`,
      );
    }
  }

  /** Removes the metrics of a board: another process has its result, or there is none. */
  #forget(board: string): void {
    this.#reported.delete(board);
    this.parts.gauges.ranklog_verify_equal.remove({ board });
    this.parts.gauges.ranklog_verify_differences.remove({ board });
  }
}

function differences({ differences: some }: VerifyReport): string {
  return some
    .map(({ kind, view, playerId }) =>
      playerId === undefined ? `${kind} ("${view}")` : `${kind} (player ${playerId} in "${view}")`,
    )
    .join(', ');
}
