import { Inject, Injectable } from '@nestjs/common';
import { closeOf } from '#board';
import { HOLDER, LeaseHeldError, type Lease, type LiveBoard, type PinnedBoard } from '#board-store';
import type { PeriodRecord } from '#contracts';
import { Logger } from '../../infra/logger.js';
import { Metrics } from '../../infra/metrics.js';
import { BoardRegistrar } from '../boards/board-registrar.js';
import { keepLease } from '../runs/kept-lease.js';
import { announce, nextRevision, unannounced, type AnnounceParts } from './announce.js';
import { lookAtBoard, type BoardLook } from './closed-views.js';
import { ScoreLogEnds } from './log-end.js';
import { PeriodsWaitError } from './period-errors.js';
import { PeriodLog, readPeriodRecords, type PeriodRecords } from './period-log.js';
import { PERIODS_LEASE, PeriodServices } from './period-services.js';
import {
  closedUntil,
  hasClosed,
  isDue,
  overdueMs,
  periodsOf,
  servedRecords,
  type Period,
} from './periods.js';

/** Waits that are shorter are normal: ingest has to apply and publish the last records. */
const QUIET_WAIT_MS = 60_000;

/** The ends of the score topic, noted when further windows had closed. */
interface NotedEnds {
  /** What had closed by then: see closedUntil. */
  readonly closed: string;
  readonly at: number;
  readonly ends: ReadonlyMap<number, number>;
  /** Why boards may lack records below the ends; undefined once they have them all. */
  missing: string | undefined;
}

/**
 * Announces the results of closed windows, each once.
 *
 * When further windows have closed, it notes the ends of the score topic and waits until all below
 * them is published: no loss of Redis hides it then. Under a lease, and with the only producer that
 * can commit, it reads what is done, and announces what is due in the order of the ends of the
 * windows. A process that is frozen or fenced meanwhile can't commit.
 */
@Injectable()
export class PeriodAnnouncer {
  readonly #ends: ScoreLogEnds;
  #noted: NotedEnds | undefined;
  /**
   * Whether `#looks` are of what has closed, with all records below the noted ends if they are
   * reached.
   */
  #isLooked = false;
  #looks: readonly BoardLook[] = [];
  #records: PeriodRecords = new Map();

  /** `known`: the live boards that this process knows, which may be a few seconds old. */
  constructor(
    private readonly services: PeriodServices,
    @Inject(BoardRegistrar) private readonly known: Pick<BoardRegistrar, 'live'>,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {
    const { connection, identity, stores } = services;
    this.#ends = new ScoreLogEnds(connection, identity.group, stores.store);
  }

  /**
   * One turn. Cost while no window closes and none is due: no request without boards that have
   * closing windows, else two requests to Redis.
   * @throws PeriodsWaitError, StaleBoardError, ListingInterruptedError, ProducerFencedError,
   * LeaseLostError, MalformedRecordError, and errors of Kafka and Redis: the next turn goes on
   */
  async turn(signal: AbortSignal): Promise<void> {
    const { services } = this;
    if (!hasClosing(this.known.live.values())) {
      this.#looks = [];
      this.#setMetrics(0);
      return;
    }
    const { live } = await services.stores.store.boards();
    const boards = [...live.values()].filter((board) => hasClosing([board]));
    const time = await services.now();
    try {
      await this.#work(boards, time, signal);
    } catch (error) {
      this.#isLooked = false;
      throw error;
    } finally {
      this.#setMetrics(time);
    }
  }

  async #work(boards: readonly LiveBoard[], now: number, signal: AbortSignal): Promise<void> {
    const noted = await this.#note(boards, now);
    const { missing } = noted;
    const isReached = missing === undefined;
    if (!this.#isLooked || (isReached && this.#hasWork(now))) await this.#look(boards);
    if (isReached && this.#hasWork(now)) await this.#announceDue(noted, now, signal);
    if (!isReached && now - noted.at > QUIET_WAIT_MS) throw new PeriodsWaitError(missing);
  }

  /**
   * Notes the ends of the log if further windows have closed, and finds out whether they are
   * reached.
   */
  async #note(boards: readonly LiveBoard[], now: number): Promise<NotedEnds> {
    const { toleranceMs } = this.services;
    const closed = boards
      .map(
        ({ generation, definition }) =>
          `${generation} ${closedUntil(definition, now, toleranceMs)}`,
      )
      .join('\n');
    if (this.#noted?.closed !== closed) {
      const ends = await this.#ends.written();
      this.#noted = { closed, at: now, ends, missing: NOT_ASKED };
      this.#isLooked = false;
    }
    const noted = this.#noted;
    if (noted.missing === undefined) return noted;
    noted.missing = await this.#ends.missing(noted.ends, boards);
    if (noted.missing === undefined) this.#isLooked = false;
    return noted;
  }

  async #look(boards: readonly LiveBoard[]): Promise<void> {
    const looks: BoardLook[] = [];
    for (const { board: name } of boards) {
      const board = await this.services.stores.pinned(name);
      looks.push(await lookAtBoard(board));
    }
    this.#looks = looks;
    this.#records = await readPeriodRecords(this.services.connection);
    this.#isLooked = true;
  }

  /** Announces what is due, records what has closed, and deletes records that have served. */
  async #announceDue(noted: NotedEnds, now: number, signal: AbortSignal): Promise<void> {
    const { connection, identity, stores } = this.services;
    const lease = await this.#acquire();
    if (lease === undefined) return;
    await using kept = keepLease(stores.leases, lease, signal);
    await using log = await PeriodLog.open(connection, identity.group);
    this.#records = log.records;
    for (const { period, board } of this.#periods(now)) {
      kept.signal.throwIfAborted();
      const { record = unannounced(period, noted.ends) } = period;
      if (isDue(period, now))
        await this.#announce(period, { log, board, signal: kept.signal, ends: record.ends });
      else if (isNew(period, now)) await log.write(record);
    }
    await log.delete(this.#served());
  }

  async #announce(period: Period, parts: AnnounceParts): Promise<void> {
    const revision = nextRevision(period);
    const count = await announce(period, revision, parts);
    this.logger.info(
      `board "${period.board}": announced ${period.window}, revision ${revision}, ${count} views`,
    );
  }

  /** undefined while another process holds it. */
  async #acquire(): Promise<Lease | undefined> {
    try {
      return await this.services.stores.leases.acquire(PERIODS_LEASE, HOLDER);
    } catch (error) {
      if (error instanceof LeaseHeldError) return undefined;
      throw error;
    }
  }

  #hasWork(now: number): boolean {
    const isOpen = ({ period }: LookedPeriod) => isDue(period, now) || isNew(period, now);
    return this.#periods(now).some(isOpen) || this.#served().length > 0;
  }

  /** The periods of all boards, in the order of their ends. */
  #periods(now: number): LookedPeriod[] {
    const found = this.#looks.flatMap(({ board, ...look }) => {
      const records = this.#records.get(board.live.board) ?? NO_RECORDS;
      const periods = periodsOf({ ...look, records }, now, this.services.toleranceMs);
      return periods.map((period) => ({ period, board }));
    });
    return found.sort((a, b) => a.period.end - b.period.end);
  }

  #served(): PeriodRecord[] {
    return this.#looks.flatMap(({ board, ...look }) =>
      servedRecords({ ...look, records: this.#records.get(board.live.board) ?? NO_RECORDS }),
    );
  }

  #setMetrics(now: number): void {
    const { ranklog_period_overdue_seconds: overdue, ranklog_periods_missed: missed } =
      this.metrics.gauges;
    overdue.reset();
    missed.reset();
    for (const { board } of this.#looks) {
      overdue.set({ board: board.live.board }, 0);
      missed.set({ board: board.live.board }, 0);
    }
    for (const { period } of this.#periods(now).reverse()) {
      const { board, state } = period;
      if (state === 'missed') missed.inc({ board });
      const ms = overdueMs(period, now);
      if (ms > 0) overdue.set({ board }, ms / 1_000); // the last one set is the oldest
    }
  }
}

/** Waits until it is known. */
const NOT_ASKED = 'it is not known yet how far the score topic is published';

const NO_RECORDS: ReadonlyMap<string, PeriodRecord> = new Map();

interface LookedPeriod {
  readonly period: Period;
  readonly board: PinnedBoard;
}

/** Whether a window has closed that has no record yet. */
function isNew(period: Period, now: number): boolean {
  return period.record === undefined && hasClosed(period, now);
}

function hasClosing(boards: Iterable<LiveBoard>): boolean {
  return [...boards].some(({ definition }) => definition.windows.some(closeOf));
}
