import { Command } from 'commander';
import { LazyCommand } from './run-command.js';
import { wholeNumber } from './text/options.js';

const list = new LazyCommand('list')
  .description('list the windows that close: open, waiting, in review, announced or missed')
  .argument('[board]', 'only this board')
  .notes('Example:\n  ranklog periods list weekly')
  .answers(async () => (await import('./commands/periods.js')).listPeriods);

const announce = new LazyCommand('announce')
  .description('end the review of a closed window: announce its results now')
  .argument('<board>')
  .argument('<window>', 'as "ranklog periods list" prints it')
  .option('--again', 'announce results again that were announced before, as the next revision')
  .notes(
    `Exit codes:
  1  the window still takes records, never closes, has no results, has expired or can't be
     announced; it was announced before (without --again), or was not (with --again)
  2  the board has no such window
  3  try again later: the window has just closed, records wait to be published, or another process
     is announcing
  5  reads are stale

Examples:
  ranklog periods announce weekly week:2026-W47
  ranklog periods announce weekly week:2026-W47 --again`,
  )
  .answers(async () => (await import('./commands/periods.js')).announcePeriod);

const watch = new LazyCommand('watch')
  .description('print the results of closed windows as they are announced')
  .argument('[board]', 'only this board')
  .option('--from-beginning', 'start with the first result in Kafka')
  .option('--player <id>', 'only results that have this player')
  .option('--limit <n>', 'end after n results', wholeNumber)
  .option('--json', 'print one JSON object a line')
  .notes('Example:\n  ranklog periods watch weekly --from-beginning')
  .runs(async () => (await import('./commands/watch.js')).watchPeriods);

export const periods = new Command('periods').description('results of closed windows');
for (const command of [list, announce, watch]) periods.addCommand(command);
