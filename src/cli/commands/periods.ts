import { formatTime, parseWindow } from '#board';
import { HOLDER, LeaseHeldError, type PinnedBoard } from '#board-store';
import { announce, endsToReach } from '../../reconciliation/periods/announce.js';
import { readWindows } from '../../reconciliation/periods/closed-views.js';
import { PeriodsWaitError, StaleBoardError } from '../../reconciliation/periods/period-errors.js';
import {
  clocksText,
  listPeriods as readPeriods,
  periodJson,
} from '../../reconciliation/periods/period-list.js';
import { PeriodLog, readPeriodRecords } from '../../reconciliation/periods/period-log.js';
import { PERIODS_LEASE, PeriodServices } from '../../reconciliation/periods/period-services.js';
import { isUnfinished, periodsOf, type Period } from '../../reconciliation/periods/periods.js';
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
  const boards = await readPeriods(services);
  const found = boards.filter((known) => board === undefined || known.board === board);
  const listed = found.flatMap(({ board: name, periods }) =>
    periods.map((period) => ({ board: name, ...periodJson(period) })),
  );
  print(listed, options, toTable);
  return readCode(found.some(({ isStale }) => isStale));
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

/**
 * Announces the window. Checks everything before it fences the announcer, and again after, with the
 * announcements that were made meanwhile.
 */
async function runAnnouncement(
  session: ReconciliationSession,
  wanted: Wanted,
  signal: AbortSignal,
) {
  const services = servicesOf(session);
  const { stores, identity, logEnds, toleranceMs } = services;
  const board = await stores.pinned(wanted.board);
  requireClosing(board, wanted.window);

  const known = await readWindows(board);
  if (known.isStale) throw new StaleBoardError(wanted.board);
  const now = await services.now();
  const clocks = { now, toleranceMs };
  const ready = periodToAnnounce(
    wanted,
    periodsOf(known, await readPeriodRecords(session), clocks),
  );

  const noted = endsToReach(ready, { ends: await logEnds.written(), notedAt: now });
  const reason = await logEnds.missing(noted.ends, [board.live]);
  if (reason !== undefined) throw new PeriodsWaitError(waitText(wanted, reason));

  await using kept = keepLease(stores.leases, await acquire(services, signal), signal);
  await using log = await PeriodLog.open(session, identity.group);
  const period = periodToAnnounce(wanted, periodsOf(known, log.records, clocks));
  const announced = await announce(period, { log, board, noted, signal: kept.signal });
  if (announced.views === 0) throw noResults(wanted);
  return { board: wanted.board, window: wanted.window, ...announced };
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

/**
 * The period of the window, if its state allows the announcement.
 * @throws CommandError, PeriodsWaitError
 */
function periodToAnnounce(wanted: Wanted, periods: readonly Period[]): Period {
  const period = periods.find(({ window }) => window === wanted.window);
  if (period === undefined) throw noResults(wanted);
  const name = nameOf(wanted);
  const { state, revision, closesAt, isFinal, isExpired, record } = period;
  if (isExpired) throw refusal(`${name} has expired: its results no longer exist`);
  if (state === 'open')
    throw refusal(`${name} takes records until ${formatTime(closesAt)}; announce it after that`);
  if (!isFinal) throw new PeriodsWaitError(waitText(wanted, clocksText(period)));
  if (record?.problem !== undefined) throw refusal(`${name} can't be announced: ${record.problem}`);
  if (isUnfinished(period)) return period;
  if (state === 'announced' && !wanted.again)
    throw refusal(
      `${name} was announced before, in revision ${revision}; --again announces it as it is now`,
    );
  if (state !== 'announced' && wanted.again)
    throw refusal(`${name} was not announced before; leave out --again`);
  return period;
}

/** @throws CommandError unless the window is one of the board, and closes */
function requireClosing({ live: { board, definition } }: PinnedBoard, window: string): void {
  const instance = parseWindow(definition, window);
  if (instance === undefined)
    throw new CommandError(
      `board "${board}" has no window ${window}; "ranklog periods list ${board}" lists those ` +
        'that close',
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
  return refusal(`${nameOf(wanted)} has no results: no event counts in it`);
}

function refusal(message: string): CommandError {
  return new CommandError(message, EXIT.no);
}
