import type { BoardDefinition } from '#board';
import type { Boards } from '#board-store';
import { CancelledError } from '../generations/errors.js';
import { CommandError, EXIT } from './exit-codes.js';
import { withLease } from './held-lease.js';
import type { ReconciliationSession } from './reconciliation-session.js';
import { WHOLE_LOG_HINT, startsText, startsJson } from './formats.js';
import { showProgress } from './progress.js';
import type { BuildOptions } from './usage/options.js';

/** A board that was built, as JSON. */
export interface BuiltBoard {
  readonly board: string;
  readonly generation: string;
  /** What was live before, kept for rollback; null: nothing. */
  readonly previous: string | null;
  /** Where it begins in the log, by partition; null: with the log. */
  readonly startsAt: Readonly<Record<string, number>> | null;
}

/**
 * Builds boards in one pass over the log, with a progress bar, and makes them live.
 * @throws CommandError where it was cancelled, or somebody else works on a board
 */
export async function build(
  session: ReconciliationSession,
  definitions: readonly BoardDefinition[],
  { from, throttle, allowPartialHistory, signal }: BuildOptions & { signal: AbortSignal },
): Promise<BuiltBoard[]> {
  const { reconciler, leases, store } = session;
  await session.registrar.claim();
  const before = await store.boards();
  const options = { signal, from, eventsPerSecond: throttle, allowPartialHistory };
  const run = () =>
    showProgress((onProgress) => reconciler.build(definitions, { ...options, onProgress }));
  try {
    const reports = await withLease(run, { leases, signal });
    return reports.map(({ board, generation, previous, starts }) => ({
      board,
      generation,
      previous: previous ?? null,
      startsAt: starts === undefined ? null : startsJson(starts),
    }));
  } catch (error) {
    if (error instanceof CancelledError) throw cancelled(definitions, before, await store.boards());
    throw error;
  }
}

/** Each board goes live for itself: some may have done so before the others were cancelled. */
function cancelled(
  definitions: readonly BoardDefinition[],
  before: Boards,
  now: Boards,
): CommandError {
  const generation = ({ live }: Boards, board: string) => live.get(board)?.generation;
  const boards = definitions.map(({ board }) => board);
  const went = boards.filter((board) => generation(before, board) !== generation(now, board));
  const others = boards.filter((board) => !went.includes(board));
  const gone = went.length === 0 ? '' : `; ${went.join(', ')} had gone live before that`;
  return new CommandError(
    `cancelled: ${others.join(', ')} as before, nothing is left of the build${gone}`,
    EXIT.cancelled,
  );
}

export function builtText(
  { board, generation, previous, startsAt }: BuiltBoard,
  { from }: Pick<BuildOptions, 'from'>,
): string {
  const back =
    previous === null ? '' : `; "ranklog boards rollback ${board}" brings back ${previous}`;
  const live = `${board}: live as generation ${generation}${back}`;
  if (startsAt === null) return live;
  const hint = from === undefined ? `; ${WHOLE_LOG_HINT}` : '';
  return `${live}\n${board}: ${startsText(startsAt)}${hint}`;
}
