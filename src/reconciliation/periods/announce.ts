import { formatTime } from '#board';
import type { PinnedBoard } from '#board-store';
import type { PeriodRecord, PeriodResult } from '#contracts';
import { viewsOfWindow } from './closed-views.js';
import { StaleBoardError } from './period-errors.js';
import type { PeriodLog } from './period-log.js';
import type { Period } from './periods.js';

/** What one transaction announces at most. */
const MAX_VIEWS = 1_000;
const MAX_BYTES = 8 * 1_024 * 1_024;

export interface AnnounceParts {
  readonly log: Pick<PeriodLog, 'write'>;
  readonly board: PinnedBoard;
  /** Ends of the score topic after the window had closed. */
  readonly ends: PeriodRecord['ends'];
  readonly signal: AbortSignal;
}

/**
 * Announces a revision of a window: each of its views once, in the order of their names. It
 * announces the views that exist when it begins, each as it is when it is read. One that was
 * interrupted goes on behind the last view that was announced, with the views that exist then.
 * Does nothing for a window without views. Returns how many views it announced.
 * @throws StaleBoardError, ListingInterruptedError, ExpiredViewError, the reason of the signal, and
 * what TransactionalPublisher.publish throws
 */
export async function announce(
  period: Period,
  revision: number,
  parts: AnnounceParts,
): Promise<number> {
  const { board, log, ends, signal } = parts;
  const { record, window } = period;
  const after = record?.revision === revision ? record.view : null;
  const views = await viewsOfWindow(board, window);
  let left = after === null ? views : views.filter((view) => view > after);
  if (views.length === 0 && after === null) return 0;
  const count = left.length;
  do {
    const results = await readResults(period, revision, left, board);
    left = left.slice(results.length);
    const last = results.at(-1)?.view ?? null;
    signal.throwIfAborted();
    const view = left.length === 0 ? null : last;
    await log.write({ board: period.board, window, revision, view, ends }, results);
  } while (left.length > 0);
  return count;
}

/** The revision to announce: the one that was interrupted, or a new one. */
export function nextRevision(period: Period): number {
  return period.revision + 1;
}

/** The record of a window that has closed, before its first announcement. */
export function unannounced({ board, window }: Period, ends: PeriodRecord['ends']): PeriodRecord {
  return { board, window, revision: 0, view: null, ends };
}

/** The results of the first views, as many as one transaction takes. */
async function readResults(
  period: Period,
  revision: number,
  views: readonly string[],
  board: PinnedBoard,
): Promise<PeriodResult[]> {
  const results: PeriodResult[] = [];
  let bytes = 0;
  for (const view of views.slice(0, MAX_VIEWS)) {
    const result = await readResult(period, revision, view, board);
    results.push(result);
    bytes += JSON.stringify(result.results).length;
    if (bytes >= MAX_BYTES) break;
  }
  return results;
}

/** One atomic read, so that no player is left out, or named twice. */
async function readResult(
  { window, start, end, results }: Period,
  revision: number,
  view: string,
  board: PinnedBoard,
): Promise<PeriodResult> {
  const { live } = board;
  const { stale, size, entries } = await board.top(view, results);
  if (stale) throw new StaleBoardError(live.board);
  return {
    board: live.board,
    generation: live.generation,
    view,
    window,
    start: formatTime(start),
    end: formatTime(end),
    revision,
    size,
    results: entries.map(({ playerId, rank, competitionRank, columns }) => {
      return { playerId, rank, competitionRank, columns };
    }),
  };
}
