import { formatTime, parseWindow } from '#board';
import { HOLDER, LeaseHeldError, type PinnedBoard } from '#board-store';
import { announce, nextRevision } from '../../reconciliation/periods/announce.js';
import { lookAtBoard, type BoardLook } from '../../reconciliation/periods/closed-views.js';
import { ScoreLogEnds } from '../../reconciliation/periods/log-end.js';
import { PeriodsWaitError } from '../../reconciliation/periods/period-errors.js';
import {
  clocksText,
  listPeriods as readPeriods,
  periodJson,
} from '../../reconciliation/periods/period-list.js';
import {
  PeriodLog,
  readPeriodRecords,
  type PeriodRecords,
} from '../../reconciliation/periods/period-log.js';
import { PERIODS_LEASE, PeriodServices } from '../../reconciliation/periods/period-services.js';
import {
  hasClosed,
  isUnfinished,
  periodsOf,
  type Period,
} from '../../reconciliation/periods/periods.js';
import { keepLease } from '../../reconciliation/runs/kept-lease.js';
import { withLease } from '../sessions/held-lease.js';
import {
  openReconciliation,
  type ReconciliationSession,
} from '../sessions/reconciliation-session.js';
import { interruption } from '../sessions/terminal.js';
import { CommandError, EXIT, readCode } from '../text/exit-codes.js';
import type { JsonOption } from '../text/options.js';
import { print, table } from '../text/output.js';

/** `ranklog periods list [BOARD]` */
export async function listPeriods(board: string | undefined, options: JsonOption): Promise<number> {
  await using session = await openReconciliation();
  const services = servicesOf(session);
  if (board !== undefined) await services.stores.pinned(board); // throws if the board is not live
  const found = (await readPeriods(services)).filter((one) => one.board === (board ?? one.board));
  const listed = found.flatMap(({ board: name, periods }) =>
    periods.map((period) => ({ board: name, ...periodJson(period) })),
  );
  print(listed, options, toTable);
  return readCode(
    found.some(({ isStale }) => isStale),
    EXIT.ok,
  );
}

type ListedPeriod = { readonly board: string } & ReturnType<typeof periodJson>;

function toTable(listed: readonly ListedPeriod[]): string {
  const rows = listed.map(({ board, window, state, revision, closesAt, waitsFor }) => {
    const shown = state === 'announced' ? `announced, revision ${revision}` : state;
    return [board, window, shown, closesAt, waitsFor ?? ''];
  });
  return table(['board', 'window', 'state', 'closes', 'waits for'], rows);
}

function servicesOf(session: ReconciliationSession): PeriodServices {
  return new PeriodServices(session.stores, session, session.identity, session.settings);
}

/**
 * Ends of the score topic after a window had closed, and why the board may lack a record below
 * them.
 */
async function missing(services: PeriodServices, { record }: Period, { live }: PinnedBoard) {
  const { connection, identity, stores } = services;
  const log = new ScoreLogEnds(connection, identity.group, stores.store);
  const ends = record?.ends ?? (await log.written());
  return { ends, reason: await log.missing(ends, [live]) };
}

interface AnnounceOptions extends JsonOption {
  readonly again?: boolean;
}

/** `ranklog periods announce BOARD WINDOW` */
export async function announcePeriod(
  board: string,
  window: string,
  options: AnnounceOptions,
): Promise<number> {
  await using session = await openReconciliation();
  using cancellation = interruption();
  const again = options.again === true;
  const answer = await runAnnouncement(session, { board, window, again }, cancellation.signal);
  print(answer, options, ({ revision, views }) => {
    return `${board}: announced ${window}, revision ${revision}, ${views} views`;
  });
  return EXIT.ok;
}

interface Wanted {
  readonly board: string;
  readonly window: string;
  readonly again: boolean;
}

/** Checks all before it fences the announcer, and once more with what is done by then. */
async function runAnnouncement(
  session: ReconciliationSession,
  wanted: Wanted,
  signal: AbortSignal,
) {
  const services = servicesOf(session);
  const { stores, identity, toleranceMs } = services;
  const board = await stores.pinned(wanted.board);
  requireClosing(board, wanted.window);
  const look = await lookAtBoard(board);
  const clocks = { now: await services.now(), toleranceMs };
  const ready = periodToAnnounce(wanted, look, await readPeriodRecords(session), clocks);
  const { ends, reason } = await missing(services, ready, board);
  if (reason !== undefined) throw new PeriodsWaitError(waitText(wanted, reason));
  await using kept = keepLease(stores.leases, await acquire(services, signal), signal);
  await using log = await PeriodLog.open(session, identity.group);
  const period = periodToAnnounce(wanted, look, log.records, clocks);
  const revision = nextRevision(period);
  const views = await announce(period, revision, { log, board, ends, signal: kept.signal });
  if (views === 0) throw noResults(wanted);
  return { board: wanted.board, window: wanted.window, revision, views };
}

async function acquire({ stores: { leases } }: PeriodServices, signal: AbortSignal) {
  try {
    return await withLease(() => leases.acquire(PERIODS_LEASE, HOLDER), signal);
  } catch (error) {
    if (!(error instanceof LeaseHeldError)) throw error;
    throw new CommandError(
      `${error.holder} is announcing results at this moment; try again when it has finished`,
      EXIT.unreachable,
    );
  }
}

/** The window, if its state allows the announcement. @throws CommandError, PeriodsWaitError */
function periodToAnnounce(
  wanted: Wanted,
  look: BoardLook,
  records: PeriodRecords,
  clocks: Clocks,
): Period {
  const { now } = clocks;
  const period = periodsIn(look, records, clocks).find(({ window }) => window === wanted.window);
  if (period === undefined) throw noResults(wanted);
  const name = nameOf(wanted);
  const { state, revision, closesAt } = period;
  if (state === 'open')
    throw refusal(`${name} takes records until ${formatTime(closesAt)}; announce it after that`);
  if (!hasClosed(period, now)) throw new PeriodsWaitError(waitText(wanted, clocksText(period)));
  if (state === 'missed') throw refusal(`${name} has expired: its results no longer exist`);
  if (isUnfinished(period)) return period;
  if (state === 'announced' && !wanted.again)
    throw refusal(
      `${name} was announced before, in revision ${revision}; --again announces it as it is now`,
    );
  if (state !== 'announced' && wanted.again)
    throw refusal(`${name} was not announced before; leave out --again`);
  return period;
}

interface Clocks {
  readonly now: number;
  readonly toleranceMs: number;
}

function periodsIn(
  { board, ...look }: BoardLook,
  records: PeriodRecords,
  { now, toleranceMs }: Clocks,
): Period[] {
  const known = { ...look, records: records.get(board.live.board) ?? new Map() };
  return periodsOf(known, now, toleranceMs);
}

/** @throws CommandError unless the window is one of the board, and closes */
function requireClosing({ live: { board, definition } }: PinnedBoard, window: string): void {
  const instance = parseWindow(definition, window);
  if (instance === undefined)
    throw new CommandError(
      `board "${board}" has no window ${window}; "ranklog periods list ${board}" lists those that close`,
      EXIT.usage,
    );
  if (instance.closesAt === null)
    throw refusal(
      `${window} of board "${board}" never closes: its definition has no "close" for it`,
    );
}

function nameOf({ board, window }: Wanted): string {
  return `${window} of board "${board}"`;
}

function waitText(wanted: Wanted, reason: string): string {
  return `${nameOf(wanted)} can't be announced yet, it waits for: ${reason}`;
}

function noResults(wanted: Wanted): CommandError {
  return refusal(`${nameOf(wanted)} has no results: no view of it has players`);
}

function refusal(message: string): CommandError {
  return new CommandError(message, EXIT.no);
}
