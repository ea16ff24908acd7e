import { Command } from 'commander';
import { EXIT } from '../exit-codes.js';
import { interruptible } from '../interruption.js';
import { print } from '../output.js';
import { withReconciliation, type ReconciliationSession } from '../reconciliation-session.js';
import { addBuildOptions, build, builtText, type BuildOptions } from '../run-build.js';
import { runCommand } from '../run-command.js';

/** `ranklog boards rebuild BOARD...`: the live definitions, built again from the log. */
export function boardsRebuildCommand(): Command {
  const command = new Command('rebuild')
    .description(
      'build live boards again from the log, as they are defined, with traffic running: mends what "boards verify" finds',
    )
    .argument('<board...>');
  return addBuildOptions(command)
    .addHelpText(
      'after',
      '\nCtrl-C leaves all as it was (exit code 130).\n\nExamples:\n  ranklog boards rebuild arena\n  ranklog boards rebuild arena football --throttle 5000',
    )
    .action((boards: readonly string[], options: BuildOptions) =>
      runCommand(() => withReconciliation((session) => rebuild(session, boards, options))),
    );
}

async function rebuild(
  session: ReconciliationSession,
  boards: readonly string[],
  options: BuildOptions,
): Promise<number> {
  const names = [...new Set(boards)];
  const live = await Promise.all(names.map((board) => session.reader.liveBoard(board)));
  const definitions = live.map(({ definition }) => definition);
  const built = await interruptible((signal) =>
    build(session, definitions, { ...options, signal }),
  );
  print({ built }, options, (value) => value.built.map(builtText).join('\n'));
  return EXIT.ok;
}
