import { setTimeout as delay } from 'node:timers/promises';
import { missingVoids } from '#board';
import { HOLDER, isOutOfMemory, LeaseLostError, type Shadow } from '#board-store';
import { toError } from '#errors';
import { LogGapError } from '#kafka-batch';
import {
  definitionsToBuild,
  finishBuild,
  NewBoards,
  type BuildOptions,
  type BuildReport,
  type ToBuild,
} from './runs/build.js';
import type { OpenShadow } from './runs/log-history.js';
import { LogPass, type ShadowWork } from './runs/log-pass.js';
import { completeRecords } from './runs/player-records.js';
import { promote, type PromotionReport } from './runs/promote.js';
import type { ReconcilerParts, RunOptions } from './runs/reconciler-parts.js';
import { explainedError, RestartPolicy } from './runs/retries.js';
import { CancelledError, UnvoidError } from './runs/run-errors.js';
import { RunLeases } from './runs/run-leases.js';
import {
  isResumable,
  openShadow,
  planShadow,
  type ShadowPlan,
  type ShadowRequest,
} from './runs/shadow-plan.js';
import {
  comparisonOutcome,
  finishVerify,
  type VerifyOptions,
  type VerifyReport,
} from './verify/verify.js';

/** A kept snapshot. `asOf`: the last record time that it includes, in ms. */
export type SnapshotReport = Pick<Shadow, 'board' | 'generation' | 'starts'> & {
  readonly asOf: number;
};

interface BuildTask
  extends ToBuild, Pick<BuildOptions, 'from' | 'allowPartialHistory' | 'skipsLive'> {
  readonly kind: 'build';
}

interface VerifyTask extends Pick<VerifyOptions, 'mostDifferences'> {
  readonly kind: 'verify';
}

interface RollbackTask {
  readonly kind: 'rollback';
  readonly allowUnvoid: boolean | undefined;
}

interface SnapshotTask extends Pick<BuildOptions, 'allowPartialHistory'> {
  readonly kind: 'snapshot';
  /** The last record time to include, in ms. */
  readonly until: number;
}

/** The work of a reconciliation on its boards. */
export type Task = BuildTask | VerifyTask | RollbackTask | SnapshotTask;

type Report = BuildReport | VerifyReport | PromotionReport | SnapshotReport;

/** How the reconciliation of one board ended. */
interface Ended {
  readonly report: Report;
  readonly outcome: string;
  readonly equal?: boolean | null;
}

/** One attempt of a reconciliation: the leases that it holds, and the signal that ends it. */
interface Attempt {
  readonly leases: RunLeases;
  readonly signal: AbortSignal;
}

/**
 * Acquires the leases of some boards, plans and opens a shadow for each, reads the log once for all
 * of them, and ends each shadow separately. After a failure, begins again with the remaining boards
 * if that may help (`RestartPolicy`).
 * States of an attempt: leased, planned, catching up, then done; or it fails or is cancelled. After
 * a failure, it keeps shadows that the next attempt or reconciliation can continue; after a
 * cancellation, only with the option `keepsShadows`. It discards all others. The header of
 * lua/commands/move-5.lua draws the roles of a generation.
 */
export class ReconciliationRun {
  /** By board: the reports of this and of earlier attempts. */
  readonly #reports = new Map<string, Report>();
  /** Boards that still need work. */
  readonly #remaining: Set<string>;
  /**
   * By board: shadows of this attempt that have not ended, and those that earlier attempts kept.
   */
  readonly #open = new Map<string, Shadow>();
  /** The live generations when the shadows were planned, by board. */
  readonly #live = new Map<string, string>();
  readonly #newBoards: NewBoards;

  constructor(
    private readonly parts: ReconcilerParts,
    private readonly task: Task,
    private readonly boards: readonly string[],
    private readonly options: RunOptions,
  ) {
    this.#remaining = new Set(boards);
    this.#newBoards = new NewBoards(parts);
  }

  /** @throws LeaseHeldError, CancelledError, HistoryCutError, OutOfMemoryError, and others */
  async run(): Promise<Report[]> {
    const { signal } = this.options;
    const { kind } = this.task;
    const policy = new RestartPolicy(kind);

    for (;;) {
      try {
        await this.#attempt();
        return this.boards.flatMap((board) => this.#reports.get(board) ?? []);
      } catch (error) {
        if (error instanceof CancelledError) throw error; // all is undone
        const waitMs = policy.waitAfter(error);
        if (waitMs === undefined) throw error;
        this.parts.logger.warn(`the ${kind} begins again: ${toError(error).message}`);
        await delay(waitMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async #attempt(): Promise<void> {
    const boards = [...this.#remaining];
    const leases = await this.#lease(boards);
    const attempt = { leases, signal: AbortSignal.any([this.options.signal, leases.signal]) };
    try {
      // After a cancellation, this attempt has the leases only to undo earlier attempts.
      attempt.signal.throwIfAborted();
      const plans = await this.#plan(attempt);
      const shadows = await this.#openAll(plans, attempt);
      await this.#readLog(shadows, attempt);
    } catch (error) {
      await this.#undo(error, leases);
      throw await this.#reportFailure(error, boards, leases);
    } finally {
      await leases.close();
    }
  }

  async #lease(boards: readonly string[]): Promise<RunLeases> {
    const { leases, store, logger } = this.parts;
    try {
      return await RunLeases.acquire(boards, { leases, logger, kind: this.task.kind });
    } catch (error) {
      throw await explainedError(error, boards, store); // a full Redis also refuses new leases
    }
  }

  /**
   * Plans all shadows, by board, before the first of them is begun.
   * @throws HistoryCutError, UnvoidError
   */
  async #plan(attempt: Attempt): Promise<ReadonlyMap<string, ShadowPlan>> {
    const { task } = this;
    switch (task.kind) {
      case 'build':
        return this.#planBuild(task, attempt);
      case 'verify':
        return this.#planOfLive({ purpose: 'verify' }, attempt);
      case 'snapshot': {
        const { until, allowPartialHistory } = task;
        return this.#planOfLive({ purpose: 'snapshot', until, allowPartialHistory }, attempt);
      }
      case 'rollback':
        return this.#planRollback(task);
    }
  }

  async #planBuild(task: BuildTask, { leases, signal }: Attempt): Promise<Map<string, ShadowPlan>> {
    const { live } = await this.parts.store.boards();
    const { skipsLive = false, from, allowPartialHistory } = task;
    if (skipsLive) await this.#leaveLive(live, leases);

    const plans = new Map<string, ShadowPlan>();
    const remaining = await definitionsToBuild(this.parts, task, this.#remaining);
    for (const definition of remaining) {
      const { board } = definition;
      const starts = live.get(board)?.starts;
      const request = { definition, purpose: task.kind, starts, from, allowPartialHistory };
      plans.set(board, await planShadow({ ...this.parts, signal }, request));
    }
    await this.#newBoards.register(remaining);
    return plans;
  }

  /** Takes the boards that are live by now out of the reconciliation. */
  async #leaveLive(live: ReadonlyMap<string, unknown>, leases: RunLeases): Promise<void> {
    for (const board of this.#remaining) {
      if (!live.has(board)) continue;
      this.#remaining.delete(board);
      this.#open.delete(board);
      await leases.leave(board);
    }
  }

  async #planRollback({ allowUnvoid }: RollbackTask): Promise<Map<string, ShadowPlan>> {
    const plans = new Map<string, ShadowPlan>();
    const { store, generations } = this.parts;
    for (const board of this.#remaining) {
      const { definition } = await store.liveBoard(board);
      const previous = (await generations.previousDefinition(board)) ?? definition;
      const unvoided = missingVoids(definition, previous).length;
      if (unvoided > 0 && !allowUnvoid) throw new UnvoidError(board, unvoided);
      plans.set(board, { kind: 'rollback' });
    }
    return plans;
  }

  /**
   * Plans a shadow by the live definition of each board.
   * @throws UnknownBoardError, BoardBuildingError
   */
  async #planOfLive(
    request: Pick<ShadowRequest, 'purpose' | 'until' | 'allowPartialHistory'>,
    { signal }: Attempt,
  ): Promise<Map<string, ShadowPlan>> {
    const plans = new Map<string, ShadowPlan>();
    for (const board of this.#remaining) {
      const { generation, definition, starts } = await this.parts.store.liveBoard(board);
      this.#live.set(board, generation);
      const log = { ...this.parts, signal };
      plans.set(board, await planShadow(log, { ...request, definition, starts }));
    }
    return plans;
  }

  async #openAll(
    plans: ReadonlyMap<string, ShadowPlan>,
    { leases, signal }: Attempt,
  ): Promise<OpenShadow[]> {
    const shadows: OpenShadow[] = [];
    for (const [board, plan] of plans) {
      signal.throwIfAborted();
      const opened = await openShadow(this.parts, leases.lease(board), plan);
      this.#open.set(board, opened.shadow);
      leases.note(board, { generation: opened.shadow.generation });
      shadows.push(opened);
    }
    return shadows;
  }

  /** Reads the log once for all shadows. The first failure ends all unfinished ones. */
  async #readLog(shadows: readonly OpenShadow[], { leases, signal }: Attempt): Promise<void> {
    const { eventsPerSecond, onProgress } = this.options;
    const limits = { leases, signal, eventsPerSecond, onProgress };
    const pass = await LogPass.open(this.parts, shadows, limits);
    const begun = shadows.map(({ shadow }) => pass.begin(leases.lease(shadow.board), shadow));
    pass.start();

    const endings = begun.map((work) => this.#end(work, pass, leases)); // all at the same time
    await pass.finish(endings);
  }

  /** Catches up a shadow and ends it, reports that, and releases the board. */
  async #end(work: ShadowWork, pass: LogPass, leases: RunLeases): Promise<void> {
    const { board } = work.shadow;
    try {
      const { report, ...end } = await this.#finish(work);
      this.#open.delete(board);
      this.#remaining.delete(board);
      this.#reports.set(board, report);
      pass.report();
      await leases.end(board, { state: 'done', ...end });
    } finally {
      pass.leave(work);
    }
  }

  /**
   * Build and rollback: catches up and promotes. Verify: catches up and compares. Snapshot: applies
   * the log up to its ends and keeps the shadow.
   */
  async #finish(work: ShadowWork): Promise<Ended> {
    const { parts, task } = this;
    switch (task.kind) {
      case 'build': {
        const report = await finishBuild(parts, work);
        const { records, seconds, generation } = report;
        const took = `${records} records in ${seconds.toFixed(1)} s`;
        return { report, outcome: `${took}; live as generation ${generation}` };
      }
      case 'verify': {
        const generation = this.#live.get(work.shadow.board) ?? '';
        const report = await finishVerify(parts, work, { ...task, generation });
        return { report, outcome: comparisonOutcome(report), equal: report.equal };
      }
      case 'rollback': {
        const report = await promote(parts, work);
        return { report, outcome: `back to generation ${report.generation}` };
      }
      case 'snapshot': {
        const { board, generation, starts } = work.shadow;
        await work.catchUp.reachEnds();
        await completeRecords(parts, work);
        await parts.generations.keepAsSnapshot(work.lease, work.shadow);
        const report = { board, generation, asOf: task.until, ...(starts && { starts }) };
        return { report, outcome: `kept as generation ${generation}` };
      }
    }
  }

  /** Undoes unfinished work, except shadows that the next attempt or reconciliation continues. */
  async #undo(error: unknown, leases: RunLeases): Promise<void> {
    // A shadow that fills Redis up is never continued: it would block live ingest.
    const isHopeless = error instanceof LogGapError || isOutOfMemory(error);
    const isOver = this.#keepsNothing || isHopeless || !isResumable(this.task.kind);
    if (isOver) await this.#discardOpen(leases);

    // Test again: the signal may have been aborted while shadows were discarded.
    if (!this.#keepsNothing) return;
    await this.#newBoards.unregister(this.#remaining, leases).catch((failure: unknown) => {
      this.parts.logger.warn(`could not unregister new boards: ${toError(failure).message}`);
    });
  }

  /** Whether the reconciliation was cancelled, and keeps nothing for the next one. */
  get #keepsNothing(): boolean {
    const { signal, keepsShadows = false } = this.options;
    return signal.aborted && !keepsShadows;
  }

  async #discardOpen(leases: RunLeases): Promise<void> {
    for (const [board, shadow] of this.#open) {
      try {
        await this.parts.generations.discard(leases.lease(board), shadow);
        this.#open.delete(board);
      } catch (failure) {
        // The shadow stays. A sweep discards the shadow of a verify, and makes the shadow of a
        // rollback previous again. The next reconciliation continues or discards other shadows.
        const what = `could not discard generation ${shadow.generation} of board "${board}"`;
        this.parts.logger.warn(`${what}: ${toError(failure).message}`);
      }
    }
  }

  /** Reports a failed attempt in the status of its boards. Returns the error to throw. */
  async #reportFailure(
    error: unknown,
    boards: readonly string[],
    leases: RunLeases,
  ): Promise<Error> {
    const { signal, keepsShadows = false } = this.options;
    const isCancelled = signal.aborted;
    const cause = await this.#orTakenOver(error, leases);
    const failure = isCancelled
      ? new CancelledError(keepsShadows)
      : await explainedError(cause, boards, this.parts.store);
    const state = isCancelled ? 'cancelled' : 'failed';
    for (const board of boards) await leases.end(board, { state, outcome: failure.message });
    return failure;
  }

  /** If another process has taken over an expired lease, returns an error that names it. */
  async #orTakenOver(error: unknown, leases: RunLeases): Promise<unknown> {
    if (!(error instanceof LeaseLostError) || !leases.mayHaveExpired(error.board)) return error;

    const { board } = error;
    const statuses = await this.parts.leases.statuses().catch(() => []);
    const holder = statuses.find((status) => status.board === board)?.holder ?? HOLDER;
    return holder === HOLDER ? error : new LeaseLostError(board, holder);
  }
}
