import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { CronJob } from 'cron';
import { definitionText, withVoids, type BoardDefinition } from '#board';
import {
  LeaseHeldError,
  UnknownBoardError,
  BoardBuildingError,
  type LiveBoard,
} from '#board-store';
import { toError } from '#errors';
import { PROCESS_OPTIONS, type ProcessOptions } from '../infra/config.module.js';
import { Metrics } from '../infra/metrics.js';
import { Stores } from '../infra/stores.js';
import { Reconciler } from './reconciler.js';
import { CancelledError, HistoryCutError } from './runs/run-errors.js';
import { leftShadow } from './runs/shadow-plan.js';
import type { VerifyReport } from './verify/verify.js';

/** A turn of the schedule. */
interface Turn {
  readonly signal: AbortSignal;
  /** When the turn began, in ms. */
  readonly begun: number;
  /** A verify that another process began up to this many ms earlier belongs to the same turn. */
  readonly sameTurnMs: number;
}

const MOST_LOGGED = 3;

/** Processes with the same schedule begin a turn within this time of each other. */
const SAME_TURN_MS = 60_000;

/**
 * At set times, verifies all live boards in one pass over the log, logs the results, sets the
 * metrics, and, if RANKLOG_VERIFY_REBUILD is set, rebuilds boards that differ. Skips boards on
 * which another process works, or which another process has verified in the same turn. Skips a turn
 * while the previous turn is still running.
 * States: stopped, then waiting or verifying. Nest starts and stops it.
 */
@Injectable()
export class ScheduledVerify
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  readonly #stopping = new AbortController();
  #job: CronJob | undefined;

  constructor(
    @Inject(Stores) private readonly stores: Pick<Stores, 'store' | 'leases' | 'generations'>,
    private readonly reconciler: Reconciler,
    private readonly metrics: Metrics,
    @Inject(PROCESS_OPTIONS) private readonly options: Pick<ProcessOptions, 'logger' | 'settings'>,
  ) {}

  onApplicationBootstrap(): void {
    const { verifySchedule, verifyTimeZone } = this.options.settings;
    if (verifySchedule === '') return;

    const job: CronJob = CronJob.from({
      cronTime: verifySchedule,
      timeZone: verifyTimeZone,
      onTick: () => this.#tick(job),
      errorHandler: (error) => {
        const text = `the scheduled verify failed: ${toError(error).message}`;
        this.options.logger.error(text, { error });
      },
      waitForCompletion: true, // the next tick and `stop` wait until a run has ended
      unrefTimeout: true,
    });
    this.#job = job;
    job.start();
  }

  /** Aborts early: Nest may wait for other providers before it calls beforeApplicationShutdown. */
  onModuleDestroy(): void {
    this.#stopping.abort();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.#job?.stop();
  }

  #tick(job: CronJob): Promise<void> {
    const begun = Date.now();
    const untilNext = job.nextDate().toMillis() - begun;
    const sameTurnMs = Math.min(SAME_TURN_MS, untilNext / 2);
    return this.run({ signal: this.#stopping.signal, begun, sameTurnMs });
  }

  /** @throws the errors of Kafka and Redis, after some retries */
  async run(turn: Turn): Promise<void> {
    const { live } = await this.stores.store.boards();
    const { ours, comparedByOthers } = await this.#shared(live, turn);
    try {
      const reports = await this.#verify(ours, turn);
      const compared = this.#report(reports);
      if (compared + comparedByOthers === live.size)
        this.metrics.gauges.ranklog_verify_last_success_timestamp_seconds.set(Date.now() / 1_000);
      await this.#rebuild(reports, turn);
    } catch (error) {
      if (!(error instanceof CancelledError)) throw error;
    }
  }

  /** The boards that this process verifies, and how many boards other processes have compared. */
  async #shared(
    live: ReadonlyMap<string, LiveBoard>,
    { begun, sameTurnMs }: Turn,
  ): Promise<{ ours: string[]; comparedByOthers: number }> {
    const statuses = await this.stores.leases.statuses();
    const busy = new Set<string>();
    const taken = new Set<string>();
    let comparedByOthers = 0;
    for (const { board, kind, state, startedAt, equal } of statuses) {
      if (state === 'running') busy.add(board);
      if (kind !== 'verify' || !live.has(board)) continue;
      if (state !== 'running' && state !== 'done') continue;
      if (startedAt < begun - sameTurnMs) continue;

      taken.add(board);
      if (typeof equal === 'boolean') comparedByOthers += 1;
    }

    const ours: string[] = [];
    for (const [board, liveBoard] of live) {
      if (taken.has(board)) continue;
      // The lease of a busy board is held, so a verify is refused before it discards a shadow.
      if (!busy.has(board)) {
        const hasLeftShadow = await this.#hasLeftShadow(board, liveBoard);
        if (hasLeftShadow) continue;
      }
      ours.push(board);
    }
    return { ours, comparedByOthers };
  }

  /**
   * Whether a killed build or snapshot has left a shadow that a verify would discard; warns about
   * it. If the schedule rebuilds, ignores a killed build of the live definition: the schedule may
   * have begun it, and nothing else would continue it.
   */
  async #hasLeftShadow(board: string, { definition }: LiveBoard): Promise<boolean> {
    const left = await leftShadow(this.stores.generations, board);
    if (left === undefined) return false;

    const isBuild = left.purpose === 'build';
    const isSame = definitionText(left.definition) === definitionText(definition);
    if (this.options.settings.verifyRebuild && isBuild && isSame) return false;

    const withLiveVoids = withVoids(left.definition, definition.voids);
    const differsInVoids = !isSame && definitionText(withLiveVoids) === definitionText(definition);
    const again =
      isBuild && differsInVoids
        ? 'run "ranklog scores void" or "unvoid"'
        : `run the ${left.purpose}`;
    this.options.logger.warn(
      `board "${board}" is not verified: that would discard what a killed ${left.purpose} has ` +
        `built (generation ${left.generation}); ${again} again, or discard that generation with ` +
        `"ranklog boards discard ${left.generation}"`,
    );
    return true;
  }

  /** Verifies the boards that can be verified: after an error about boards, tries without them. */
  async #verify(boards: readonly string[], { signal }: Turn): Promise<readonly VerifyReport[]> {
    let rest = boards;
    while (rest.length > 0) {
      try {
        return await this.reconciler.verify(rest, { signal, mostDifferences: MOST_LOGGED });
      } catch (error) {
        const refused = this.#refusedBy(error);
        if (!rest.some((board) => refused.includes(board))) throw error;
        rest = rest.filter((board) => !refused.includes(board));
      }
    }
    return [];
  }

  /** Returns the boards that an error is about. Logs the reason, unless they were removed. */
  #refusedBy(error: unknown): readonly string[] {
    if (error instanceof LeaseHeldError) {
      this.options.logger.debug(
        `board "${error.board}" is not verified now: ${error.holder} works on it`,
      );
      return [error.board];
    }
    if (error instanceof UnknownBoardError || error instanceof BoardBuildingError)
      return [error.board]; // removed meanwhile
    if (!(error instanceof HistoryCutError)) return [];

    for (const board of error.boards)
      this.options.logger.error(`board "${board}" can't be verified: ${error.message}`);
    return error.boards;
  }

  /** Logs the results and sets the metrics. Returns how many boards were compared. */
  #report(reports: readonly VerifyReport[]): number {
    const { gauges } = this.metrics;
    gauges.ranklog_verify_equal.reset();
    gauges.ranklog_verify_differences.reset();
    let compared = 0;
    for (const report of reports) {
      const { board, equal, differenceCount } = report;
      this.#logReport(report);
      if (equal === null) continue;

      compared += 1;
      gauges.ranklog_verify_equal.set({ board }, equal ? 1 : 0);
      gauges.ranklog_verify_differences.set({ board }, differenceCount);
    }
    return compared;
  }

  #logReport(report: VerifyReport): void {
    const { board, equal, differenceCount, places, views } = report;
    const { logger } = this.options;
    const compared = `${places} places in ${views} views`;
    if (equal === null) {
      logger.warn(
        `board "${board}" can't be verified: events were refused for its maxViews, and which ` +
          'ones depends on how the partitions interleaved; raise maxViews, and apply the change',
      );
    } else if (equal) {
      logger.info(`board "${board}" is what the log makes of it: ${compared} verified`);
    } else {
      logger.error(
        `board "${board}" has ${differenceCount} difference(s) to the log in ${compared}`,
        { differences: report.differences },
      );
    }
  }

  async #rebuild(reports: readonly VerifyReport[], { signal }: Turn): Promise<void> {
    const damaged = reports.filter(({ equal }) => equal === false);
    if (!this.options.settings.verifyRebuild || damaged.length === 0) return;

    const { live } = await this.stores.store.boards();
    const definitions: BoardDefinition[] = [];
    for (const { board, generation } of damaged) {
      const liveBoard = live.get(board);
      // The board may have been removed or rebuilt meanwhile.
      if (liveBoard === undefined || liveBoard.generation !== generation) continue;
      definitions.push(liveBoard.definition);
    }

    const built = await this.reconciler.build(definitions, { signal });
    for (const { board, generation, starts } of built) {
      const partial = starts === undefined ? '' : ', which begins where the one before did';
      this.options.logger.info(
        `board "${board}" was built again, and is live as generation ${generation}${partial}`,
      );
    }
  }
}
