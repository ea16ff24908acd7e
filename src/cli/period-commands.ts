import { Command } from 'commander';
import { LazyCommand } from './run-command.js';
import { wholeNumber } from './text/options.js';

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
for (const command of [watch]) periods.addCommand(command);
