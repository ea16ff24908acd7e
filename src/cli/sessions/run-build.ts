import type { BoardDefinition, VoidChange } from '#board';
import type { Boards } from '#board-store';
import { claimIdentity } from '../../infra/identity.js';
import type { BuildReport } from '../../reconciliation/runs/build.js';
import { CancelledError } from '../../reconciliation/runs/run-errors.js';
import type { From } from '../../reconciliation/runs/shadow-plan.js';
import { CommandError, EXIT } from '../text/exit-codes.js';
import type { BuildOptions } from '../text/options.js';
import { ReconciliationBar } from '../text/progress-bar.js';
import { WHOLE_LOG_HINT, partialText } from '../text/value-text.js';
import { withLease } from './held-lease.js';
import type { ReconciliationSession } from './reconciliation-session.js';

/** A built board, as JSON. */
export type BuiltBoard = ReturnType<typeof builtJson>;

/** The work of a command: builds boards by their definitions, or a live board with other voids. */
type Work = readonly BoardDefinition[] | { readonly board: string; readonly change: VoidChange };

interface BuildLimits extends Omit<BuildOptions, 'from'> {
  readonly from?: From | undefined;
  readonly signal: AbortSignal;
}

/**
 * Builds boards in one pass over the log, with a progress bar, and promotes them.
 * @throws CommandError if the user cancels; LeaseHeldError
 */
export async function build(
  session: ReconciliationSession,
  work: Work,
  { from, throttle, allowPartialHistory, signal }: BuildLimits,
): Promise<BuiltBoard[]> {
  const { reconciler, definitions: topic } = session;
  const { store } = session.stores;
  await claimIdentity(store, topic);
  const before = await store.boards();
  using bar = new ReconciliationBar();
  const limits = { from, eventsPerSecond: throttle, allowPartialHistory };
  const options = { ...limits, signal, onProgress: bar.onProgress };
  try {
    const reports = await withLease(async () => {
      if (!('change' in work)) return reconciler.build(work, options);
      return [await reconciler.changeVoids(work.board, { ...options, change: work.change })];
    }, signal);
    return reports.map(builtJson);
  } catch (error) {
    const boards = 'change' in work ? [work.board] : work.map(({ board }) => board);
    if (error instanceof CancelledError) throw cancelled(boards, before, await store.boards());
    throw error;
  }
}

function builtJson({ board, generation, previous, starts }: BuildReport) {
  // null: it has the whole log
  const startsAt = starts === undefined ? null : Object.fromEntries(starts);
  return { board, generation, previous: previous ?? null, startsAt };
}

/**
 * The error of a cancelled build. Names boards that are already promoted, because boards are
 * promoted one by one.
 */
function cancelled(boards: readonly string[], before: Boards, now: Boards) {
  const generation = ({ live }: Boards, board: string) => live.get(board)?.generation;
  const promoted = boards.filter((board) => generation(before, board) !== generation(now, board));
  const others = boards.filter((board) => !promoted.includes(board));
  const gone = promoted.length === 0 ? '' : `; already promoted: ${promoted.join(', ')}`;
  return new CommandError(`cancelled: ${others.join(', ')} unchanged${gone}`, EXIT.cancelled);
}

/** `options` are those of a command with --from. */
export function builtText(
  { board, generation, previous, startsAt }: BuiltBoard,
  options?: Pick<BuildOptions, 'from'>,
): string {
  const back =
    previous === null ? '' : `; "ranklog boards rollback ${board}" returns to ${previous}`;
  const live = `${board}: live as generation ${generation}${back}`;
  if (startsAt === null) return live;
  const hint = options && options.from === undefined ? `; ${WHOLE_LOG_HINT}` : '';
  return `${live}\n${board}: ${partialText(startsAt)}${hint}`;
}
