import { Command } from 'commander';
import { suggestion, type BoardDefinition } from '#board';
import { needsBuild, type Plan } from '../../reconciliation/plan/plan.js';
import { canAsk, confirm } from '../confirm.js';
import { CommandError, EXIT } from '../exit-codes.js';
import { withLease } from '../held-lease.js';
import { interruptible } from '../interruption.js';
import { print } from '../output.js';
import { planText } from '../plan-text.js';
import {
  addBuildOptions,
  build,
  builtText,
  type BuildOptions,
  type BuiltBoard,
} from '../run-build.js';
import { withReconciliation, type ReconciliationSession } from '../reconciliation-session.js';
import { runCommand } from '../run-command.js';
import { fileDefinitions, isToDo, makePlan } from './boards-plan.js';

interface Options extends BuildOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly remove?: readonly string[];
}

/** `ranklog boards apply`: builds what the boards file changes, and makes it live. */
export function boardsApplyCommand(): Command {
  const command = new Command('apply')
    .description(
      'build the new and changed boards of the boards file from the log, with traffic running, and make them live',
    )
    .option('--yes', 'do not ask')
    .option('--dry-run', 'as "boards plan": show what would be done, and end')
    .option(
      '--remove <board>',
      'remove this live board, which the file no longer has; repeat it for several',
      collect,
    );
  return addBuildOptions(command)
    .addHelpText(
      'after',
      '\nReaders see the boards as they are until the new ones are complete. Ctrl-C leaves all as it was (exit code 130).' +
        '\nAn apply that was killed goes on where it was when it is run again.' +
        '\n\nExamples:\n  ranklog boards apply\n  ranklog boards apply --yes --throttle 5000\n  ranklog boards apply --remove trials',
    )
    .action((options: Options) =>
      runCommand(() => withReconciliation((session) => apply(session, options))),
    );
}

function collect(board: string, before: readonly string[] = []): string[] {
  return [...before, board];
}

async function apply(session: ReconciliationSession, options: Options): Promise<number> {
  const definitions = await fileDefinitions(session);
  const { throttle, from, remove = [] } = options;
  return interruptible(async (signal) => {
    const plan = await makePlan(session, definitions, { throttle, from, signal });
    checkRemovals(plan, remove);
    const show = (value: Applied) => print(value, options, (it) => appliedText(it));
    if (options.json !== true) process.stdout.write(`${planText(plan, session.graceMs)}\n`);
    if (options.dryRun === true) {
      if (options.json === true) print(plan, options, () => '');
      return isToDo(plan) || remove.length > 0 ? EXIT.no : EXIT.ok;
    }
    if (!isToDo(plan) && remove.length === 0) {
      if (options.json === true) show({ built: [], removed: [] });
      return EXIT.ok;
    }
    if (!(await isWanted(plan, options, signal)))
      throw new CommandError('nothing was done', EXIT.no);
    show(await carryOut(session, { plan, definitions, remove, options, signal }));
    return EXIT.ok;
  });
}

/** @throws CommandError for a board that can't be removed */
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
        : `board "${board}" is in the boards file; take it out of there before --remove`,
      found === undefined ? EXIT.no : EXIT.usage,
    );
  }
}

/** @throws CommandError where nobody can be asked */
async function isWanted(
  plan: Plan,
  { yes, remove = [] }: Options,
  signal: AbortSignal,
): Promise<boolean> {
  if (yes === true) return true;
  if (!canAsk())
    throw new CommandError(
      'apply asks before it builds, and there is no terminal; say --yes, or look at it with "ranklog boards plan"',
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
    ...(remove.length > 0 ? [`REMOVE ${remove.join(', ')} for good`] : []),
  ];
  return confirm(`${steps.join(' and ')}?`, signal);
}

/** What `boards apply --json` prints. */
interface Applied {
  readonly built: readonly BuiltBoard[];
  readonly removed: readonly string[];
}

interface Work {
  readonly plan: Plan;
  readonly definitions: readonly BoardDefinition[];
  readonly remove: readonly string[];
  readonly options: Options;
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
  for (const board of remove) await withLease(() => reconciler.remove(board), { leases, signal });
  return { built, removed: remove };
}

function appliedText({ built, removed }: Applied): string {
  return [...built.map(builtText), ...removed.map((board) => `${board}: removed`)].join('\n');
}
