import { Command } from 'commander';
import { LazyCommand } from './run-command.js';
import { partitionNumber, pastTimeInUtc, wholeNumber } from './text/options.js';

/** A command on selected dead letters. */
const selection = (name: string) =>
  new LazyCommand(name)
    .option('--reason <code>', 'only those with this code, such as UNKNOWN_BOARD')
    .option('--board <name>', 'only those whose event names this board')
    .option('--partition <n>', 'only those of this partition', partitionNumber)
    .option(
      '--from <time>',
      'only those published at this time or later; without a zone, in UTC',
      pastTimeInUtc,
    )
    .option(
      '--until <time>',
      'only those published before this time; without a zone, in UTC',
      pastTimeInUtc,
    );

const list = selection('list')
  .description('list the last dead letters, and count all')
  .option('--limit <n>', 'how many to list', wholeNumber, 20)
  .notes('Example:\n  ranklog dead-letters list --reason TOO_FAR_AHEAD --json')
  .answers(async () => (await import('./commands/dead-letters.js')).listDeadLetters);

const show = new LazyCommand('show')
  .description('show a dead letter: its reason, what to do, its record, tries before and after it')
  .argument('<id>', 'as "dead-letters list" prints it')
  .notes('Example:\n  ranklog dead-letters show ranklog.score-events/0/17')
  .answers(async () => (await import('./commands/dead-letters.js')).showDeadLetter);

const retry = selection('retry')
  .description('send records of dead letters again, with their times; each counts once')
  .argument('[id...]', 'only these (default: all)')
  .option('--yes', 'do not ask for confirmation')
  .option('--dry-run', 'send nothing; report what would be sent')
  .notes(
    `Safe to repeat, also after a crash. Leaves out records that their boards take from the log anyway, after a build.
Exit code 1: some can't be sent, or would be refused again (each is written to standard error).

Example:
  ranklog dead-letters retry --reason TOO_FAR_AHEAD --board arena`,
  )
  .answers(async () => (await import('./commands/dead-letters-retry.js')).retryDeadLetters);

export const deadLetters = new Command('dead-letters').description(
  'list, show, retry dead letters',
);
for (const command of [list, show, retry]) deadLetters.addCommand(command);
