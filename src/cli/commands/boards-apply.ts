import { suggestion, type BoardDefinition } from '#board';
import { CancelledError } from '../../generations/errors.js';
import { needsBuild, type Plan } from '../../registry/plan.js';
import { isInteractive, confirm } from '../terminal.js';
import { CommandError, EXIT } from '../exit-codes.js';
import { describe, exitCodeOf } from '../failures.js';
import { withLease } from '../held-lease.js';
import { interruptible } from '../terminal.js';
import { print } from '../output.js';
import { planText } from '../plan-text.js';
import { build, builtText, type BuiltBoard } from '../run-build.js';
import { withReconciliation, type ReconciliationSession } from '../reconciliation-session.js';
import type { BuildOptions } from '../usage/options.js';
import { fileDefinitions, isToDo, makePlan } from './boards-plan.js';

export interface ApplyOptions extends BuildOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly remove?: readonly string[];
}

/** `ranklog boards apply`. */
export function boardsApply(options: ApplyOptions): Promise<number> {
  return withReconciliation((session) => apply(session, options));
}

async function apply(session: ReconciliationSession, options: ApplyOptions): Promise<number> {
  const definitions = await fileDefinitions(session);
  const { from } = options;
  const remove = [...new Set(options.remove)];
  return interruptible(async (signal) => {
    const plan = await makePlan(session, definitions, { from });
    checkRemovals(plan, remove);
    const show = (value: Applied) => print(value, options, (it) => appliedText(it, options));
    if (options.json !== true) {
      const { graceMs } = session;
      process.stdout.write(`${planText(plan, { graceMs, remove })}\n`);
    }
    if (options.dryRun === true) {
      if (options.json === true) print(plan, options, () => '');
      return isToDo(plan) || remove.length > 0 ? EXIT.no : EXIT.ok;
    }
    if (!isToDo(plan) && remove.length === 0) {
      if (options.json === true) show({ built: [], removed: [] });
      return EXIT.ok;
    }
    if (!(await isConfirmed(plan, { ...options, remove }, signal)))
      throw new CommandError('cancelled: nothing was changed', EXIT.no);
    show(await carryOut(session, { plan, definitions, remove, options, signal }));
    return EXIT.ok;
  });
}

/** @throws CommandError for a board that is not live, or is in the file */
function checkRemovals({ boards }: Plan, remove: readonly string[]): void {
  for (const board of remove) {
    const found = boards.find((planned) => planned.board === board);
    if (found?.change === 'removed') continue;
    const removable = boards
      .filter(({ change }) => change === 'removed')
      .map((planned) => planned.board);
    throw new CommandError(
      found === undefined
        ? `there is no board "${board}" to remove${suggestion(board, removable)}`
        : `board "${board}" is in the boards file; delete it there before you use --remove`,
      found === undefined ? EXIT.no : EXIT.usage,
    );
  }
}

/** @throws CommandError without a terminal */
async function isConfirmed(
  plan: Plan,
  { yes, remove = [] }: ApplyOptions,
  signal: AbortSignal,
): Promise<boolean> {
  if (yes === true) return true;
  if (!isInteractive())
    throw new CommandError(
      'apply asks for confirmation, and there is no terminal; use --yes, or "ranklog boards plan" to see the changes',
      EXIT.usage,
    );
  const steps = [
    ...(isToDo(plan)
      ? [
          `build ${plan.boards
            .filter(needsBuild)
            .map(({ board }) => board)
            .join(', ')}`,
        ]
      : []),
    ...(remove.length > 0 ? [`REMOVE ${remove.join(', ')} permanently`] : []),
  ];
  return confirm(`${steps.join(' and ')}?`, signal);
}

/** The output of `boards apply --json`. */
interface Applied {
  readonly built: readonly BuiltBoard[];
  readonly removed: readonly string[];
}

interface Work {
  readonly plan: Plan;
  readonly definitions: readonly BoardDefinition[];
  readonly remove: readonly string[];
  readonly options: ApplyOptions;
  readonly signal: AbortSignal;
}

async function carryOut(
  session: ReconciliationSession,
  { plan, definitions, remove, options, signal }: Work,
): Promise<Applied> {
  const wanted = new Set(plan.boards.filter(needsBuild).map(({ board }) => board));
  const toBuild = definitions.filter(({ board }) => wanted.has(board));
  const built = toBuild.length === 0 ? [] : await build(session, toBuild, { ...options, signal });
  const { reconciler, leases } = session;
  const removed: string[] = [];
  try {
    for (const board of remove) {
      signal.throwIfAborted();
      await withLease(() => reconciler.remove(board, { signal }), { leases, signal });
      removed.push(board);
    }
  } catch (error) {
    throw notRemoved(error, remove, { built, removed });
  }
  return { built, removed };
}

/** The error, listing the steps that were completed. */
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
  const texts = built.map((board) => builtText(board, options));
  return [...texts, ...removed.map((board) => `${board}: removed`)].join('\n');
}
