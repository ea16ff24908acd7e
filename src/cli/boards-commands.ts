import { Command } from 'commander';
import { LazyCommand } from './run-command.js';
import {
  ALLOW_PARTIAL_HISTORY,
  collect,
  FROM,
  givenTime,
  IN_ZONE_OF_BOARD,
  THROTTLE,
} from './text/options.js';

const check = new LazyCommand('check')
  .description('report all problems of boards files; exit code 1: there are problems')
  .argument('[file...]', 'boards files (default: RANKLOG_BOARDS)')
  .notes('Example:\n  ranklog boards check boards.yaml')
  .answers(async () => (await import('./commands/boards-check.js')).boardsCheck);

const show = new LazyCommand('show')
  .description('show the boards of a file with all defaults, or the effect of a score event')
  .argument('[file]', 'the boards file (default: RANKLOG_BOARDS)')
  .option('--board <name>', 'show this board only; treat the event as one of this board')
  .option('--event <json>', 'a score event; @FILE reads it from a file, - from standard input')
  .option(
    '--at <time>',
    `the timestamp of the event's record; ${IN_ZONE_OF_BOARD} (default: now)`,
    givenTime,
  )
  .notes(
    'Exit code 1: the event would be a dead letter.\n\nExamples:\n  ranklog boards show\n  ' +
      'ranklog boards show --board arena --event ' +
      '\'{"board":"arena","playerId":"ada","delta":"12.5"}\'',
  )
  .answers(async () => (await import('./commands/boards-show.js')).boardsShow);

const schema = new LazyCommand('schema')
  .description('print the JSON Schema of boards files, for editors')
  .notes('Example:\n  ranklog boards schema > boards.schema.json')
  .runs(async () => (await import('./commands/boards-check.js')).boardsSchema);

const plan = new LazyCommand('plan')
  .description('show how the boards file differs from the live boards, and what apply would do')
  .notes(
    'Only reads. Exit code 1: there are boards to build. A live board that is not in the ' +
      'file is shown, and does not count as a change.\n\nExample:\n  ranklog boards plan',
  )
  .answers(async () => (await import('./commands/boards-apply.js')).boardsPlan);

const apply = new LazyCommand('apply')
  .description('build the new and changed boards of the boards file, and promote them')
  .option('--yes', 'do not ask for confirmation')
  .option('--remove <board>', 'remove a live board that is not in the file; repeatable', collect)
  .option('--allow-left-out', 'build although the new definition refuses events of the live board')
  .addOption(THROTTLE)
  .addOption(FROM)
  .addOption(ALLOW_PARTIAL_HISTORY)
  .notes(
    'Readers see the old boards until the new ones are complete. Ctrl-C leaves boards that are ' +
      'not promoted yet as they are (exit code 130).' +
      '\nAfter a crash, run the command again: it continues the build.' +
      '\n\nExamples:\n  ranklog boards apply\n  ranklog boards apply --yes --throttle 5000\n  ' +
      'ranklog boards apply --remove trials',
  )
  .answers(async () => (await import('./commands/boards-apply.js')).boardsApply);

const verify = new LazyCommand('verify')
  .description('compare live boards with the log, player by player')
  .argument('[board...]', 'default: all live boards')
  .addOption(THROTTLE)
  .notes(
    'Exit codes: 1 a board differs from the log, 2 a board cannot be compared, 3 a board is ' +
      'being built.' +
      '\nChanges nothing; "boards rebuild" repairs differences. Builds each board a second time, ' +
      'so while it runs' +
      '\nthe boards take up to twice the memory in Redis.\n\nExamples:\n  ranklog boards verify\n' +
      '  ranklog boards verify arena --json',
  )
  .answers(async () => (await import('./commands/boards-verify.js')).boardsVerify);

const rebuild = new LazyCommand('rebuild')
  .description('build live boards again from the log: repairs what "boards verify" finds')
  .argument('<board...>')
  .addOption(THROTTLE)
  .addOption(FROM)
  .addOption(ALLOW_PARTIAL_HISTORY)
  .notes(
    'Ctrl-C leaves boards that are not promoted yet as they are (exit code 130).\n\n' +
      'Examples:\n  ranklog boards rebuild arena\n  ranklog boards rebuild arena football ' +
      '--throttle 5000',
  )
  .answers(async () => (await import('./commands/boards-apply.js')).boardsRebuild);

const rollback = new LazyCommand('rollback')
  .description('promote the previous generation of a board, with all later events')
  .argument('<board>')
  .option('--allow-unvoid', 'count records again that "scores void" has taken back since')
  .notes(
    'A rollback is possible for RANKLOG_ROLLBACK_GRACE after an apply, a rebuild or a change ' +
      'of voided scores; "boards generations" shows until when. Run the command again to roll ' +
      'forward.\n\nExample:\n  ranklog boards rollback arena',
  )
  .answers(async () => (await import('./commands/boards-generations.js')).boardsRollback);

const snapshot = new LazyCommand('snapshot')
  .description('build a board as it was at a time, to read beside the live board')
  .argument('<board>')
  .requiredOption(
    '--until <time>',
    `include records up to this time, or up to the start of this date; ${IN_ZONE_OF_BOARD}`,
    givenTime,
  )
  .addOption(THROTTLE)
  .option('--allow-partial-history', 'build from the rest of a log whose beginning is gone')
  .notes(
    'A snapshot never changes. It stays until "boards discard".\n\nExample:\n  ranklog ' +
      'boards snapshot arena --until 2026-03-01T00:00:00+01:00',
  )
  .answers(async () => (await import('./commands/boards-generations.js')).boardsSnapshot);

const discard = new LazyCommand('discard')
  .description('discard a snapshot, or the shadow of a killed reconciliation, and free its memory')
  .argument('<generation>', 'its id, as "boards generations" prints it')
  .notes(
    'Live and previous generations stay.\n\nExample:\n  ranklog boards discard ' +
      '1795312800000000-0a1b2c3d4e5f',
  )
  .runs(async () => (await import('./commands/boards-generations.js')).boardsDiscard);

const generations = new LazyCommand('generations')
  .description('list the generations of all boards: live, previous, shadow, snapshot')
  .notes('Example:\n  ranklog boards generations')
  .answers(async () => (await import('./commands/boards-generations.js')).boardsGenerations);

/** `check`, `show` and `schema` need neither Kafka nor Redis. */
export const boards = new Command('boards').description(
  'check and apply boards files; verify, rebuild, roll back and snapshot boards',
);
const ON_FILES = [check, show, schema, plan, apply];
const ON_LIVE_BOARDS = [verify, rebuild, rollback, snapshot, discard, generations];
for (const command of [...ON_FILES, ...ON_LIVE_BOARDS]) boards.addCommand(command);
