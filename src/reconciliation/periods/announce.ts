import { formatTime } from '#board';
import type { PinnedBoard } from '#board-store';
import type { PeriodRecord, PeriodResult } from '#contracts';
import { viewsOfWindow } from './closed-views.js';
import { StaleBoardError } from './period-errors.js';
import type { PeriodLog } from './period-log.js';
import type { Period } from './periods.js';

/**
 * One transaction announces at most MAX_VIEWS views, and no further view after MAX_BYTES of
 * results.
 */
const MAX_VIEWS = 1_000;
const MAX_BYTES = 8 * 1_024 * 1_024;

/** Ends of the score topic, and when they were noted. */
export type NotedEnds = Pick<PeriodRecord, 'ends' | 'notedAt'>;

export interface AnnounceParts {
  readonly log: Pick<PeriodLog, 'write'>;
  readonly board: PinnedBoard;
  readonly noted: NotedEnds;
  readonly signal: AbortSignal;
}

/**
 * The ends up to which all records must be published before a window is announced: those in the
 * record of the window. Returns the `current` ends instead if the window has no record, if the ends
 * were noted before the window was final, or if the score topic was created again.
 */
export function endsToReach(period: Period, current: NotedEnds): NotedEnds {
  const { record } = period;
  if (record === undefined || record.notedAt <= period.finalAt) return current;

  const isOfOtherLog = [...record.ends].some(([id, end]) => end > (current.ends.get(id) ?? 0));
  return isOfOtherLog ? current : record;
}

/**
 * Announces the next revision of a window: each of its views once, in the order of their names. It
 * announces the views that exist when it begins, each as it is when it is read. After an
 * interruption, it continues behind the last announced view, with the views that exist then. Does
 * nothing for a window without views. Returns how many views it announced.
 * @throws StaleBoardError, ListingInterruptedError, ExpiredViewError, the reason of the signal, and
 * what TransactionalPublisher.publish throws
 */
export async function announce(
  period: Period,
  { board, log, noted, signal }: AnnounceParts,
): Promise<{ revision: number; views: number }> {
  const { record, window } = period;
  const { ends, notedAt } = noted;
  const revision = period.revision + 1;
  const after = record?.view ?? ''; // every view is behind ''
  let left = (await viewsOfWindow(board, window)).filter((view) => view > after);
  const views = left.length;
  if (views === 0 && after === '') return { revision, views };

  do {
    const results = await readResults(period, revision, left, board);
    left = left.slice(results.length);
    signal.throwIfAborted();

    const isComplete = left.length === 0;
    const view = isComplete ? null : (results.at(-1)?.view ?? null);
    await log.write([{ board: period.board, window, revision, view, ends, notedAt }], results);
  } while (left.length > 0);
  return { revision, views };
}

/** Reads the results of the first views, as many as one transaction takes. */
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

/** Reads a view in one request, which is atomic: it neither omits nor repeats a player. */
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
