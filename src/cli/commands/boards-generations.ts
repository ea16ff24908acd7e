import { formatTime } from '#board';
import { generationJson } from '../../query/status/read-status.js';
import { withLease } from '../sessions/held-lease.js';
import {
  openReconciliation,
  type ReconciliationSession,
} from '../sessions/reconciliation-session.js';
import { interruption } from '../sessions/terminal.js';
import { CommandError, EXIT } from '../text/exit-codes.js';
import { pastTimeOn } from '../text/board-times.js';
import type { BuildOptions, JsonOption, TimeText } from '../text/options.js';
import { print, table } from '../text/output.js';
import { ReconciliationBar } from '../text/progress-bar.js';
import { partialText } from '../text/value-text.js';

export async function boardsGenerations(options: JsonOption): Promise<number> {
  await using session = await openReconciliation();
  const generations = await session.stores.catalog.generations();
  print(generations.map(generationJson), options, toTable);
  return EXIT.ok;
}

function toTable(generations: readonly ReturnType<typeof generationJson>[]): string {
  const rows = generations.map((overview) => {
    const { board, generation, role, since, keptUntil, asOf, startsAt } = overview;
    const times = [since, keptUntil, asOf].map((time) => time ?? '-');
    return [board, role, generation, ...times, startsAt === null ? 'all' : partialText(startsAt)];
  });
  return table(['board', 'role', 'generation', 'since', 'kept until', 'as of', 'history'], rows);
}

type RollbackOptions = JsonOption & { readonly allowUnvoid?: boolean };

export async function boardsRollback(board: string, options: RollbackOptions): Promise<number> {
  await using session = await openReconciliation();
  using cancellation = interruption();
  const { signal } = cancellation;
  const { generation, previous = null } = await rollback(session, board, { ...options, signal });
  const forward =
    previous === null ? '' : `; run it again to roll forward to generation ${previous}`;
  const answer = { board, generation, previous };
  print(answer, options, () => `${board}: generation ${generation} is live again${forward}`);
  return EXIT.ok;
}

/** A function of its own, so that the bar is removed before the command prints. */
async function rollback(
  { reconciler }: ReconciliationSession,
  board: string,
  { allowUnvoid, signal }: RollbackOptions & { signal: AbortSignal },
) {
  using bar = new ReconciliationBar();
  const options = { allowUnvoid, signal, onProgress: bar.onProgress };
  return await withLease(() => reconciler.rollback(board, options), signal);
}

type SnapshotOptions<Time> = Omit<BuildOptions, 'from'> & { readonly until: Time };

export async function boardsSnapshot(
  board: string,
  options: SnapshotOptions<TimeText>,
): Promise<number> {
  await using session = await openReconciliation();
  const { definition } = await session.stores.reader.board(board);
  const until = pastTimeOn(definition, options.until);
  process.stderr.write(`ranklog: building ${board} as it was at ${formatTime(until)}\n`);
  using cancellation = interruption();
  const { signal } = cancellation;
  const { generation, asOf } = await snapshot(session, board, { ...options, until, signal });
  print({ board, generation, asOf: formatTime(asOf) }, options, (made) =>
    [
      `${board} as it was at ${made.asOf}: generation ${generation}`,
      `to read it: ranklog standings ${board} --generation ${generation}`,
      `to discard it: ranklog boards discard ${generation}`,
    ].join('\n'),
  );
  return EXIT.ok;
}

/** A function of its own, so that the bar is removed before the command prints. */
async function snapshot(
  { reconciler }: ReconciliationSession,
  board: string,
  {
    until,
    throttle,
    allowPartialHistory,
    signal,
  }: SnapshotOptions<number> & { signal: AbortSignal },
) {
  using bar = new ReconciliationBar();
  const limits = { eventsPerSecond: throttle, allowPartialHistory };
  const options = { ...limits, signal, onProgress: bar.onProgress };
  return await withLease(() => reconciler.snapshot(board, until, options), signal);
}

export async function boardsDiscard(generation: string): Promise<number> {
  await using session = await openReconciliation();
  const { catalog } = session.stores;
  const isSnapshot = await catalog.removeSnapshot(generation);
  const board = isSnapshot ? undefined : await catalog.discardShadow(generation);
  if (!isSnapshot && board === undefined)
    throw new CommandError(
      `generation ${generation} is neither a snapshot nor the shadow of a killed ` +
        `reconciliation, so it can't be discarded; "ranklog boards generations" lists all ` +
        'generations',
      EXIT.no,
    );
  while ((await catalog.sweep()) > 0);
  const note = isSnapshot
    ? ''
    : `; the next reconciliation of board "${board}" begins from the start`;
  process.stdout.write(`${generation}: discarded${note}\n`);
  return EXIT.ok;
}
