import { suggestion, type BoardDefinition } from '#board';
import { needsBuild, type Plan } from '../../reconciliation/boards/plan.js';
import { readBoardsFile } from '../../reconciliation/boards/read-boards-file.js';
import { readPlan } from '../../reconciliation/boards/read-plan.js';
import { CancelledError } from '../../reconciliation/runs/run-errors.js';
import { withLease } from '../sessions/held-lease.js';
import {
  openReconciliation,
  type ReconciliationSession,
} from '../sessions/reconciliation-session.js';
import { build, builtText, type BuiltBoard } from '../sessions/run-build.js';
import { confirmOnTerminal, interruption } from '../sessions/terminal.js';
import { fromOn } from '../text/board-times.js';
import { CommandError, EXIT } from '../text/exit-codes.js';
import { describe, exitCodeOf } from '../text/failures.js';
import type { BuildOptions, JsonOption } from '../text/options.js';
import { print } from '../text/output.js';
import { leftOutText, planText } from '../text/plan-text.js';

type ApplyOptions = BuildOptions & {
  readonly yes?: boolean;
  readonly remove?: readonly string[];
  readonly allowLeftOut?: boolean;
};

export async function boardsPlan(options: JsonOption): Promise<number> {
  await using session = await openReconciliation();
  const { plan } = await readFileAndPlan(session, options);
  print(plan, options, () => planText(plan, session));
  return plan.boards.some(needsBuild) ? EXIT.no : EXIT.ok;
}

export async function boardsApply(options: ApplyOptions): Promise<number> {
  await using session = await openReconciliation();
  const { json = false } = options;
  const remove = [...new Set(options.remove)];
  const { definitions, from, plan } = await readFileAndPlan(session, options);
  checkRemovals(plan, remove);

  const removals = await removalTexts(session, remove);
  if (!json) print(plan, options, () => planText(plan, { ...session, remove: removals }));
  const names = plan.boards.filter(needsBuild).map(({ board }) => board);
  const isToDo = names.length > 0 || remove.length > 0;
  if (!isToDo && !json) return EXIT.ok;

  if (options.allowLeftOut !== true) checkLeftOut(plan);
  using cancellation = interruption();
  const { signal } = cancellation;
  if (isToDo && options.yes !== true) await confirmSteps(names, removals, signal);

  const toBuild = definitions.filter(({ board }) => names.includes(board));
  const limits = { ...options, from, signal };
  const applied = await carryOut(session, toBuild, remove, limits);
  print(applied, options, () => appliedText(applied, options));
  return EXIT.ok;
}

async function readFileAndPlan(session: ReconciliationSession, options: BuildOptions) {
  const { settings, topics } = session;
  const definitions = await readBoardsFile(settings.boards);
  const from = fromOn(definitions, options.from);
  const plan = await readPlan({ ...session, topic: topics.scoreEvents }, definitions, { from });
  return { definitions, from, plan };
}

/**
 * @throws CommandError for a board that is still in the boards file, or that Redis does not have
 */
function checkRemovals({ boards }: Plan, remove: readonly string[]): void {
  const removable = boards.filter(({ change }) => change === 'removed').map(({ board }) => board);
  for (const board of remove) {
    if (removable.includes(board)) continue;
    if (boards.some((planned) => planned.board === board))
      throw new CommandError(
        `board "${board}" is in the boards file; delete it there before you use --remove`,
        EXIT.usage,
      );
    throw new CommandError(
      `there is no board "${board}" to remove${suggestion(board, removable)}`,
      EXIT.no,
    );
  }
}

/** The boards to remove, each with its number of voids: a board that is applied again has none. */
async function removalTexts({ stores }: ReconciliationSession, remove: readonly string[]) {
  const { live } = await stores.store.boards();
  return remove.map((board) => {
    const voids = live.get(board)?.definition.voids ?? [];
    return voids.length === 0 ? board : `${board} (with its ${voids.length} voided records)`;
  });
}

/** @throws CommandError if a build leaves out events of the live generation */
function checkLeftOut({ boards }: Plan): void {
  for (const { board, leftOut } of boards)
    if (leftOut !== null && leftOut.events > 0)
      throw new CommandError(
        `the new definition of board "${board}" ${leftOutText(leftOut)}; nothing was changed`,
        EXIT.usage,
      );
}

function confirmSteps(
  toBuild: readonly string[],
  remove: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const steps: string[] = [];
  if (toBuild.length > 0) steps.push(`build ${toBuild.join(', ')}`);
  if (remove.length > 0) steps.push(`REMOVE ${remove.join(', ')} permanently`);

  const instead = '"ranklog boards plan" to see the changes';
  return confirmOnTerminal(`${steps.join(' and ')}?`, signal, { command: 'apply', instead });
}

interface Applied {
  readonly built: readonly BuiltBoard[];
  readonly removed: readonly string[];
}

async function carryOut(
  session: ReconciliationSession,
  toBuild: readonly BoardDefinition[],
  remove: readonly string[],
  options: Parameters<typeof build>[2],
): Promise<Applied> {
  const { signal } = options;
  const built = toBuild.length === 0 ? [] : await build(session, toBuild, options);
  const removed: string[] = [];
  try {
    for (const board of remove) {
      signal.throwIfAborted();
      await withLease(() => session.reconciler.remove(board, { signal }), signal);
      removed.push(board);
    }
  } catch (error) {
    throw notRemoved(error, remove, { built, removed });
  }
  return { built, removed };
}

/** The error of a failed or cancelled removal. It names the steps that were completed before. */
function notRemoved(error: unknown, remove: readonly string[], { built, removed }: Applied) {
  const done = [
    ...built.map(({ board }) => `${board} was promoted`),
    ...removed.map((board) => `${board} was removed`),
  ];
  if (done.length === 0) return error;
  const left = remove.filter((board) => !removed.includes(board)).join(', ');
  const what = error instanceof CancelledError ? 'cancelled' : describe(error);
  return new CommandError(
    `${what}: ${left} not removed; completed: ${done.join(', ')}`,
    exitCodeOf(error),
  );
}

function appliedText({ built, removed }: Applied, options: ApplyOptions): string {
  const builtTexts = built.map((board) => builtText(board, options));
  const removedTexts = removed.map((board) => `${board}: removed`);
  return [...builtTexts, ...removedTexts].join('\n');
}

export async function boardsRebuild(
  boards: readonly string[],
  options: BuildOptions,
): Promise<number> {
  await using session = await openReconciliation();
  const names = [...new Set(boards)];
  const live = await Promise.all(names.map((board) => session.stores.reader.board(board)));
  const definitions = live.map(({ definition }) => definition);
  using cancellation = interruption();
  const from = fromOn(definitions, options.from);
  const { signal } = cancellation;
  const built = await build(session, definitions, { ...options, from, signal });
  print({ built }, options, () => built.map((board) => builtText(board, options)).join('\n'));
  return EXIT.ok;
}
