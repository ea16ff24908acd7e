import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import { canClose } from '#board';
import { HOLDER, LeaseHeldError, type Lease, type LiveBoard, type PinnedBoard } from '#board-store';
import { periodName, type PeriodRecord } from '#contracts';
import { toError } from '#errors';
import { logRanges } from '#kafka-batch';
import { Logger } from '../../infra/logger.js';
import { Maintenance } from '../../infra/maintenance.js';
import { Metrics } from '../../infra/metrics.js';
import { BoardRegistrar } from '../boards/board-registrar.js';
import { keepLease } from '../runs/kept-lease.js';
import { announce, endsToReach, type AnnounceParts, type NotedEnds } from './announce.js';
import { readWindows, type BoardWindows } from './closed-views.js';
import { PeriodsWaitError, StaleBoardError } from './period-errors.js';
import { PeriodLog, readPeriodRecords } from './period-log.js';
import { PERIODS_LEASE, PeriodServices } from './period-services.js';
import type { Ends } from './score-log-ends.js';
import {
  isDue,
  needsEnds,
  obsoleteRecords,
  overdueMs,
  periodsOf,
  type Period,
  type PeriodRecords,
} from './periods.js';

const TURN_EVERY_MS = 2_000;

/** Shorter waits are normal: ingest has to apply and publish the last records. */
const QUIET_WAIT_MS = 60_000;

/** How often windows are read again: they may get their first views, or expire. */
const READ_EVERY_MS = 60_000;

/**
 * Announces the results of closed windows, each once.
 *
 * When a window has closed, it notes the ends of the score topic in the record of the window. When
 * the review is over, it waits until all records below these ends are published: from then on, no
 * loss of Redis can hide them. Under a lease, and with the only producer that can commit, it reads
 * the records of windows again, and announces the due windows in the order of their ends. A process
 * that is frozen or fenced meanwhile can't commit.
 */
@Injectable()
export class PeriodAnnouncer {
  /** The last read of `#windows` and `#records`; undefined: read them again. */
  #read: { readonly at: number; readonly source: string } | undefined;
  #windows: readonly BoardWindows[] = [];
  #records: PeriodRecords = new Map();
  /** Why a board could not be read. */
  #readError: Error | undefined;
  /**
   * Windows whose announcement failed. The others go first, so that a failing one does not stop
   * them.
   */
  readonly #failed = new Set<string>();

  /** `known`: the live boards that this process knows, which may be a few seconds old. */
  constructor(
    private readonly services: PeriodServices,
    @Inject(BoardRegistrar) private readonly known: Pick<BoardRegistrar, 'live'>,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /**
   * Runs one turn. If several windows fail, throws the error of one of them.
   * Cost: no request without boards that have closing windows. Otherwise two requests to Redis and
   * one to each leader of the definitions topic, while no window closes or is due. Each minute, and
   * after each change of that topic, also reads the topic and lists all views of these boards.
   * @throws PeriodsWaitError, StaleBoardError, ListingInterruptedError, ProducerFencedError,
   * LeaseLostError, and errors of Kafka and Redis: the next turn goes on
   */
  async turn(signal: AbortSignal): Promise<void> {
    const { services } = this;
    if (closing(this.known.live.values()).length === 0) {
      this.#read = undefined;
      this.#windows = [];
      this.#setMetrics(0);
      return;
    }

    const { live } = await services.stores.store.boards();
    const boards = closing(live.values());
    const now = await services.now();
    try {
      await this.#work(boards, now, signal);
    } catch (error) {
      if (!(error instanceof PeriodsWaitError)) this.#read = undefined;
      throw error;
    } finally {
      this.#setMetrics(now);
    }
  }

  async #work(boards: readonly LiveBoard[], now: number, signal: AbortSignal): Promise<void> {
    await this.#refresh(boards, now);
    const periods = this.#periods(now).map(({ period }) => period);
    const due = periods.filter(isDue);
    const mustNote = periods.some(needsEnds);
    const mustRead = mustNote || due.length > 0;
    const ends: Ends = mustRead ? await this.services.logEnds.written() : new Map();
    const written = { ends, notedAt: now };

    const { reached, reason } = await this.#reached(due, written, boards);
    if (mustNote || reached.size > 0 || this.#obsolete().length > 0)
      await this.#write({ boards, written, reached }, now, signal);

    if (this.#readError !== undefined) throw this.#readError;
    if (reason !== undefined) throw new PeriodsWaitError(reason);
    for (const { isFinal, record } of periods)
      if (isFinal && record?.problem !== undefined) throw new PeriodsWaitError(record.problem);
  }

  /** Reads windows and records, unless the last read is recent and nothing has changed since. */
  async #refresh(boards: readonly LiveBoard[], now: number): Promise<void> {
    const { kafka, topics } = this.services.connection;
    const ranges = await logRanges(kafka, topics.definitions);
    const ends = [...ranges.values()].map(({ end }) => end);
    const generations = boards.map(({ generation }) => generation);
    const source = [...ends, ...generations].join(' ');
    if (this.#read?.source === source && now < this.#read.at + READ_EVERY_MS) return;

    await this.#readWindows(boards);
    this.#records = await readPeriodRecords(this.services.connection);
    this.#read = { at: now, source };
  }

  /** If a board can't be read, keeps its windows of the last read, for metrics. */
  async #readWindows(boards: readonly LiveBoard[]): Promise<void> {
    const found: BoardWindows[] = [];
    this.#readError = undefined;
    for (const { board: name } of boards) {
      try {
        const windows = await readWindows(await this.services.stores.pinned(name));
        if (windows.isStale) this.#readError ??= new StaleBoardError(name);
        found.push(windows);
      } catch (error) {
        this.#readError ??= toError(error);
        const before = this.#windows.find(({ definition }) => definition.board === name);
        if (before !== undefined) found.push({ ...before, isStale: true });
      }
    }
    this.#windows = found;
  }

  /**
   * Returns the names of the windows whose records are all published. `reason`: why another window
   * has waited for more than QUIET_WAIT_MS.
   */
  async #reached(
    due: readonly Period[],
    written: NotedEnds,
    boards: readonly LiveBoard[],
  ): Promise<{ reached: Set<string>; reason: string | undefined }> {
    const reached = new Set<string>();
    const noted = due.map((period) => ({ period, ...endsToReach(period, written) }));
    noted.sort((a, b) => a.notedAt - b.notedAt); // later ends are reached later
    let last: Ends | undefined;
    for (const { period, ends, notedAt } of noted) {
      if (!isDeepStrictEqual(ends, last)) {
        const reason = await this.services.logEnds.missing(ends, boards);
        const isQuiet = written.notedAt - notedAt <= QUIET_WAIT_MS;
        if (reason !== undefined) return { reached, reason: isQuiet ? undefined : reason };
      }
      last = ends;
      reached.add(periodName(period));
    }
    return { reached, reason: undefined };
  }

  /** Records what has closed, announces what is due, and deletes obsolete records. */
  async #write(
    { boards, written, reached }: Work,
    now: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { connection, identity, stores } = this.services;
    const lease = await this.#acquire();
    if (lease === undefined) return;
    await using kept = keepLease(stores.leases, lease, signal);
    await using log = await PeriodLog.open(connection, identity.group);
    if (reached.size > 0) await this.#readWindows(boards); // now all windows have their views
    this.#records = log.records;
    kept.signal.throwIfAborted();

    const periods = this.#periods(now).map(({ period, board }) => {
      return { period, board, noted: endsToReach(period, written) };
    });
    // Before any announcement: a window without a record that ended before an announced one counts
    // as announced.
    const toNote = periods.filter(({ period, noted }) => {
      return noted === written && (needsEnds(period) || isDue(period));
    });
    await log.write(toNote.map(({ period }) => recordWith(written, period)));

    for (const { period, board, noted } of periods) {
      if (!reached.has(periodName(period)) || !isDue(period)) continue;
      kept.signal.throwIfAborted();
      await this.#announce(period, { log, board, signal: kept.signal, noted });
    }
    await log.delete(this.#obsolete());
  }

  async #announce(period: Period, parts: AnnounceParts): Promise<void> {
    const name = periodName(period);
    this.#failed.add(name);
    const { revision, views } = await announce(period, parts);
    this.#failed.delete(name);
    if (views === 0) return;
    this.logger.info(
      `board "${period.board}": announced ${period.window}, revision ${revision}, ${views} views`,
    );
  }

  /** Returns undefined while another process holds the lease. */
  async #acquire(): Promise<Lease | undefined> {
    try {
      return await this.services.stores.leases.acquire(PERIODS_LEASE, HOLDER);
    } catch (error) {
      if (error instanceof LeaseHeldError) return undefined;
      throw error;
    }
  }

  /** The periods of boards that are not stale, by their ends; periods that failed come last. */
  #periods(now: number): BoardPeriod[] {
    const periods: BoardPeriod[] = [];
    for (const known of this.#windows) {
      if (known.isStale) continue;
      for (const period of this.#periodsOf(known, now))
        periods.push({ period, board: known.board });
    }
    periods.sort((a, b) => a.period.end - b.period.end);

    const hasFailed = ({ period }: BoardPeriod) => this.#failed.has(periodName(period));
    return [...periods.filter((found) => !hasFailed(found)), ...periods.filter(hasFailed)];
  }

  #periodsOf(known: BoardWindows, now: number): Period[] {
    return periodsOf(known, this.#records, { now, toleranceMs: this.services.toleranceMs });
  }

  #obsolete(): PeriodRecord[] {
    return this.#windows.flatMap((known) => obsoleteRecords(known, this.#records));
  }

  #setMetrics(now: number): void {
    const overdue = this.metrics.gauges.ranklog_period_overdue_seconds;
    const missed = this.metrics.gauges.ranklog_periods_missed;
    overdue.reset();
    missed.reset();
    for (const known of this.#windows) {
      const { board } = known.definition;
      const periods = this.#periodsOf(known, now);
      const longestMs = Math.max(0, ...periods.map((period) => overdueMs(period, now)));
      const missedPeriods = periods.filter(({ state }) => state === 'missed');
      overdue.set({ board }, longestMs / 1_000);
      missed.set({ board }, missedPeriods.length);
    }
  }
}

/** Runs the turns of the announcer. */
@Injectable()
export class PeriodMaintenance extends Maintenance {
  constructor(announcer: PeriodAnnouncer, logger: Logger) {
    const task = {
      onFailure: "results of closed windows can't be announced now",
      everyMs: TURN_EVERY_MS,
      run: (signal: AbortSignal) => announcer.turn(signal),
    };
    super([task], logger);
  }
}

interface BoardPeriod {
  readonly period: Period;
  readonly board: PinnedBoard;
}

interface Work {
  readonly boards: readonly LiveBoard[];
  readonly written: NotedEnds;
  /** The names of the windows that have all their records published. */
  readonly reached: ReadonlySet<string>;
}

/** The record of a window that has no noted ends yet, or has the ends of another score topic. */
function recordWith(written: NotedEnds, { board, window, record }: Period): PeriodRecord {
  const { revision = 0, view = null } = record ?? {};
  return { board, window, revision, view, ...written };
}

/** The boards that have closing windows. */
function closing(boards: Iterable<LiveBoard>): LiveBoard[] {
  return [...boards].filter(({ definition }) => canClose(definition));
}
