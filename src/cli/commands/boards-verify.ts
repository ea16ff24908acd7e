import { BoardBuildingError } from '#board-store';
import { readPositions, readPublished } from '../../query/status/read-status.js';
import { withLease } from '../sessions/held-lease.js';
import {
  openReconciliation,
  type ReconciliationSession,
} from '../sessions/reconciliation-session.js';
import { interruption } from '../sessions/terminal.js';
import { CommandError, EXIT } from '../text/exit-codes.js';
import type { BuildOptions } from '../text/options.js';
import { print } from '../text/output.js';
import { ReconciliationBar } from '../text/progress-bar.js';
import { reportJson, reportText } from '../text/verify-report.js';

export async function boardsVerify(
  boards: readonly string[],
  options: BuildOptions,
): Promise<number> {
  await using session = await openReconciliation();
  const { reader } = session.stores;
  const live = (await reader.boards()).map(({ board }) => board);
  const names = boards.length === 0 ? live : [...new Set(boards)];
  if (names.length === 0) throw new CommandError('there is no live board to verify', EXIT.no);

  for (const board of names)
    if (!live.includes(board)) await reader.board(board).catch(throwRefusal);

  const reports = await verify(session, names, options.throttle);
  const published = await readPublished(session, session.identity.group, session.stores.status);
  for (const { stopped } of await readPositions(session, published))
    if (stopped !== null) process.stderr.write(`ranklog: not verified beyond: ${stopped}\n`);

  print(reports.map(reportJson), options, () => reports.map(reportText).join('\n\n'));
  if (reports.some(({ equal }) => equal === false)) return EXIT.no;
  return reports.some(({ equal }) => equal === null) ? EXIT.usage : EXIT.ok;
}

/** For a board that is being built, the exit code is 3: exit code 1 would mean a difference. */
function throwRefusal(error: unknown): never {
  if (!(error instanceof BoardBuildingError)) throw error;
  throw new CommandError(error.message, EXIT.unreachable);
}

/** A function of its own, so that the bar is removed and Ctrl-C works as usual after it. */
async function verify(
  { reconciler }: ReconciliationSession,
  boards: readonly string[],
  eventsPerSecond: number | undefined,
) {
  using cancellation = interruption();
  using bar = new ReconciliationBar();
  const { signal } = cancellation;
  const options = { signal, eventsPerSecond, onProgress: bar.onProgress };
  return await withLease(() => reconciler.verify(boards, options), signal);
}
