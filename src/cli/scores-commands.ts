import { Command, Option } from 'commander';
import { LazyCommand } from './run-command.js';
import { ALLOW_PARTIAL_HISTORY, collect, collectPlaces, THROTTLE } from './text/options.js';

/** A command that changes which records are voided. */
function changeCommand(name: string) {
  return new LazyCommand(name)
    .argument('<board>')
    .option('--player <id>', 'the player of an event; repeatable, each with an --event', collect)
    .option('--event <id>', 'the id of an event of the --player before it', collect)
    .addOption(
      new Option(
        '--at <partition/offset>',
        'the record of an event, ban, unban or erasure; repeatable',
      )
        .argParser(collectPlaces)
        .default([], 'none'),
    )
    .option(
      '--file <list>',
      'a file of such records, one a line, as "scores list" prints it; - reads stdin',
    )
    .option('--yes', 'do not ask for confirmation')
    .option('--dry-run', 'change nothing; show the records and what a build reads')
    .addOption(THROTTLE)
    .addOption(ALLOW_PARTIAL_HISTORY);
}

const voidCommand = changeCommand('void')
  .description('take back wrong score events: build the board without their effect, and promote it')
  .notes(
    `Voids all records of an event. --player and --event select all records with this id, in all
partitions; --at selects one record. Retries of a voided record are voided too, also later ones. A
voided event still moves the clocks of its board, and its id still drops duplicates. Later builds
keep it voided. Exit code 1: an event is unknown or never counted; nothing is changed. Exit code 0
if all are voided already.

Examples:
  ranklog scores void arena --player p-17 --event match-204 --player p-18 --event match-204
  ranklog scores void arena --at 3/120456 --dry-run`,
  )
  .answers(async () => (await import('./commands/scores.js')).voidScores);

const unvoid = changeCommand('unvoid')
  .description('count voided score events again')
  .notes(
    `Reads the voided records only. If no event is voided, there is nothing to do: exit code 0.

Example:
  ranklog scores unvoid arena --player p-17 --event match-204`,
  )
  .answers(async () => (await import('./commands/scores.js')).unvoidScores);

const list = new LazyCommand('list')
  .description(
    'list the voided records with their players and events; "void --file" reads this list',
  )
  .argument('<board>')
  .notes('Example:\n  ranklog scores list arena')
  .answers(async () => (await import('./commands/scores.js')).listVoided);

export const scores = new Command('scores').description(
  'void score events and player records, and list voided ones',
);
for (const command of [voidCommand, unvoid, list]) scores.addCommand(command);
