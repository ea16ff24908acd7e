import { Command } from 'commander';
import type { ApplyOptions } from '../commands/boards-apply.js';
import type { ShowOptions } from '../commands/boards-show.js';
import type { SnapshotOptions } from '../commands/boards-snapshot.js';
import type { VerifyOptions } from '../commands/boards-verify.js';
import { runCommand } from '../run-command.js';
import { collect, momentOf, pastMoment } from './option-values.js';
import { addBuildOptions, addThrottleOption, type BuildOptions } from './shared-options.js';

interface JsonOption {
  readonly json?: boolean;
}

/** `ranklog boards`: what the boards file says, and making the live boards so. `check`, `show` and `schema` need no server. */
export function boardsCommand(): Command {
  const boards = new Command('boards').description(
    'check and apply boards files; verify, rebuild and roll back boards; look at them as they were',
  );
  for (const command of COMMANDS) boards.addCommand(command());
  return boards;
}

/** `ranklog boards check FILE...`: exit code 1 when a file has problems. */
function checkCommand(): Command {
  return new Command('check')
    .description('check boards files, and tell all their problems; exit code 1: there are some')
    .argument('[file...]', 'boards files (default: that of RANKLOG_BOARDS)')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  ranklog boards check boards.yaml')
    .action((files: readonly string[], options: JsonOption) =>
      runCommand(async () =>
        (await import('../commands/boards-check.js')).boardsCheck(files, options),
      ),
    );
}

/** `ranklog boards show`: definitions with every default, or what one score event would do. */
function showCommand(): Command {
  return new Command('show')
    .description(
      'show the boards of a file with every default filled in, or what a score event would move; exit code 1: it would be a dead letter',
    )
    .argument('[file]', 'the boards file (default: that of RANKLOG_BOARDS)')
    .option('--board <name>', 'this board only; an event counts as one of it')
    .option('--event <json>', 'a score event; @FILE reads it from a file, - from standard input')
    .option('--at <time>', "the timestamp of the event's record (default: now)", momentOf)
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  ranklog boards show\n  ranklog boards show --board arena --event \'{"board":"arena","playerId":"ada","delta":"12.5"}\'',
    )
    .action((file: string | undefined, options: ShowOptions) =>
      runCommand(async () =>
        (await import('../commands/boards-show.js')).boardsShow(file, options),
      ),
    );
}

/** `ranklog boards schema`: what editors complete boards files by. */
function schemaCommand(): Command {
  return new Command('schema')
    .description('print the JSON Schema of boards files, for editors')
    .addHelpText('after', '\nExample:\n  ranklog boards schema > boards.schema.json')
    .action(() =>
      runCommand(async () => (await import('../commands/boards-schema.js')).boardsSchema()),
    );
}

/** `ranklog boards plan`: what `boards apply` would do; exit code 1 when there is something to do. */
function planCommand(): Command {
  return new Command('plan')
    .description(
      'show how the boards file differs from the live boards, and what it takes to apply it; exit code 1: there is something to do',
    )
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nOnly reads. A live board that the file does not have is shown, and is nothing to do.\n\nExample:\n  ranklog boards plan',
    )
    .action((options: JsonOption) =>
      runCommand(async () => (await import('../commands/boards-plan.js')).boardsPlan(options)),
    );
}

/** `ranklog boards apply`: builds what the boards file changes, and makes it live. */
function applyCommand(): Command {
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
    .action((options: ApplyOptions) =>
      runCommand(async () => (await import('../commands/boards-apply.js')).boardsApply(options)),
    );
}

/** `ranklog boards verify [BOARD...]`: live boards against the log; exit code 1 when they differ. */
function verifyCommand(): Command {
  const command = new Command('verify')
    .description(
      'compare live boards with what the log makes, player by player, with traffic running; exit code 1: they differ, 2: one can not be compared',
    )
    .argument('[board...]', 'default: all live boards');
  return addThrottleOption(command)
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nChanges nothing: "boards rebuild" repairs what is found. Builds each board a second time beside the live one, so it takes as' +
        '\nmuch memory in Redis as they do, until it ends.\n\nExamples:\n  ranklog boards verify\n  ranklog boards verify arena --json',
    )
    .action((boards: readonly string[], options: VerifyOptions) =>
      runCommand(async () =>
        (await import('../commands/boards-verify.js')).boardsVerify(boards, options),
      ),
    );
}

/** `ranklog boards rebuild BOARD...`: the live definitions, built again from the log. */
function rebuildCommand(): Command {
  const command = new Command('rebuild')
    .description(
      'build live boards again from the log, as they are defined, with traffic running: repairs what "boards verify" finds',
    )
    .argument('<board...>');
  return addBuildOptions(command)
    .addHelpText(
      'after',
      '\nCtrl-C leaves all as it was (exit code 130).\n\nExamples:\n  ranklog boards rebuild arena\n  ranklog boards rebuild arena football --throttle 5000',
    )
    .action((boards: readonly string[], options: BuildOptions) =>
      runCommand(async () =>
        (await import('../commands/boards-rebuild.js')).boardsRebuild(boards, options),
      ),
    );
}

/** `ranklog boards rollback BOARD`: the generation before becomes live again. */
function rollbackCommand(): Command {
  return new Command('rollback')
    .description(
      'make the previous generation of a board live again, caught up with what came since; again: forward',
    )
    .argument('<board>')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nWorks for the time of RANKLOG_ROLLBACK_GRACE after an apply or a rebuild; "boards generations" shows until when.\n\nExample:\n  ranklog boards rollback arena',
    )
    .action((board: string, options: JsonOption) =>
      runCommand(async () =>
        (await import('../commands/boards-rollback.js')).boardsRollback(board, options),
      ),
    );
}

/** `ranklog boards snapshot BOARD --until TIME`: the board as it was, beside the live one. */
function snapshotCommand(): Command {
  const command = new Command('snapshot')
    .description('build a board as it was at a time, to be read beside the live one')
    .argument('<board>')
    .requiredOption(
      '--until <time>',
      'take in what was sent up to this time, by the timestamps of the records',
      pastMoment,
    );
  return addThrottleOption(command)
    .option('--allow-partial-history', 'from what is left of a log whose beginning is gone')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nIt is never moved, verified or rolled back, and stays until "boards discard".\n\nExample:\n  ranklog boards snapshot arena --until 2026-03-01T00:00:00+01:00',
    )
    .action((board: string, options: SnapshotOptions) =>
      runCommand(async () =>
        (await import('../commands/boards-snapshot.js')).boardsSnapshot(board, options),
      ),
    );
}

/** `ranklog boards discard GENERATION`: a snapshot goes, or what a killed run has left. */
function discardCommand(): Command {
  return new Command('discard')
    .description(
      'give up a snapshot, or the shadow of a run that was killed, and its memory; no other generation can be',
    )
    .argument('<generation>', 'as "boards generations" shows it')
    .addHelpText('after', '\nExample:\n  ranklog boards discard 1795312800000000-0a1b2c3d4e5f')
    .action((generation: string) =>
      runCommand(async () =>
        (await import('../commands/boards-snapshot.js')).boardsDiscard(generation),
      ),
    );
}

/** `ranklog boards generations`: all that Redis holds of the boards. */
function generationsCommand(): Command {
  return new Command('generations')
    .description('list the generations of all boards: live, previous, being built, snapshots')
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  ranklog boards generations')
    .action((options: JsonOption) =>
      runCommand(async () =>
        (await import('../commands/boards-generations.js')).boardsGenerations(options),
      ),
    );
}

const COMMANDS = [
  checkCommand,
  showCommand,
  schemaCommand,
  planCommand,
  applyCommand,
  verifyCommand,
  rebuildCommand,
  rollbackCommand,
  snapshotCommand,
  discardCommand,
  generationsCommand,
];
