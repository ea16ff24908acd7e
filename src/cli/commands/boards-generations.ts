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
  const rows = generations.map((overview) => [
    overview.board,
    overview.role,
    overview.generation,
    overview.since ?? '-',
    overview.keptUntil ?? '-',
    overview.asOf ?? '-',
    overview.startsAt === null ? 'all' : partialText(overview.startsAt),
  ]);
  return table(['board', 'role', 'generation', 'since', 'kept until', 'as of', 'history'], rows);
}

type RollbackOptions = JsonOption & { readonly allowUnvoid?: boolean };

export async function boardsRollback(board: string, options: RollbackOptions): Promise<number> {
  await using session = await openReconciliation();
  using cancellation = interruption();
  const { signal } = cancellation;
  const result = await rollback(session, board, { ...options, signal });
  const { generation } = result;
  const previous = result.previous ?? null;

  const forward =
    previous === null ? '' : `; run it again to roll forward to generation ${previous}`;
  const answer = { board, generation, previous };
  print(answer, options, () => `${board}: generation ${generation} is live again${forward}`);
  return EXIT.ok;
}

/** A function of its own, so that the bar is removed before the command prints. */
async function rollback(
  session: ReconciliationSession,
  board: string,
  { allowUnvoid, signal }: RollbackOptions & { signal: AbortSignal },
) {
  using bar = new ReconciliationBar();
  const options = { allowUnvoid, signal, onProgress: bar.onProgress };
  return await withLease(() => session.reconciler.rollback(board, options), signal);
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
  const made = await snapshot(session, board, { ...options, until, signal });

  const { generation } = made;
  const asOf = formatTime(made.asOf);
  const lines = [
    `${board} as it was at ${asOf}: generation ${generation}`,
    `to read it: ranklog standings ${board} --generation ${generation}`,
    `to discard it: ranklog boards discard ${generation}`,
  ];
  print({ board, generation, asOf }, options, () => lines.join('\n'));
  return EXIT.ok;
}

/** A function of its own, so that the bar is removed before the command prints. */
async function snapshot(
  session: ReconciliationSession,
  board: string,
  given: SnapshotOptions<number> & { signal: AbortSignal },
) {
  using bar = new ReconciliationBar();
  const { until, signal } = given;
  const options = {
    eventsPerSecond: given.throttle,
    allowPartialHistory: given.allowPartialHistory,
    signal,
    onProgress: bar.onProgress,
  };
  return await withLease(() => session.reconciler.snapshot(board, until, options), signal);
}

export async function boardsDiscard(generation: string): Promise<number> {
  await using session = await openReconciliation();
  const { catalog } = session.stores;
  let note = '';
  const isSnapshot = await catalog.removeSnapshot(generation);
  if (!isSnapshot) {
    const board = await catalog.discardShadow(generation);
    if (board === undefined)
      throw new CommandError(
        `generation ${generation} is neither a snapshot nor the shadow of a killed ` +
          `reconciliation, so it can't be discarded; "ranklog boards generations" lists all ` +
          'generations',
        EXIT.no,
      );
    note = `; the next reconciliation of board "${board}" begins from the start`;
  }

  let steps: number;
  do {
    steps = await catalog.sweep();
  } while (steps > 0);

  process.stdout.write(`${generation}: discarded${note}\n`);
  return EXIT.ok;
}
