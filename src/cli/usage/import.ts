import { Command, InvalidArgumentError } from 'commander';
import { lazy } from '../run-command.js';
import { collectNamed, momentOf, wholeNumber } from './options.js';

function importId(text: string): string {
  if (!/^[\w.:-]{1,64}$/.test(text))
    throw new InvalidArgumentError('use 1 to 64 letters, digits, or _ . : -');
  return text;
}

export const importScores = new Command('import')
  .description('make opening events of players and scores from elsewhere; safe to repeat')
  .argument('<board>')
  .argument('<source>', 'a CSV or NDJSON file, - for standard input, or the URL of a Redis')
  .option('--key <key>', 'the sorted set in that Redis')
  .option('--at <time>', 'the time of the events of rows without occurredAt', momentOf)
  .option('--attribute <name=value>', 'an attribute for all rows; repeatable', collectNamed)
  .option(
    '--id <id>',
    'the name of the import: a player has one opening event of each',
    importId,
    'opening',
  )
  .option('--round', "round the scores of a sorted set to the column's decimals")
  .option('--dry-run', 'send nothing; report what would be refused, and ties')
  .option('--skip-bad', 'send the accepted rows although others are refused')
  .option('--compare', 'send nothing; compare the source with the board, player by player')
  .option('--view <view>', 'the view to compare (default: the overall ranking)')
  .option('--rate <n>', 'send at most n events per second', wholeNumber)
  .option('--allow-partial-history', 'import although the beginning of the log is gone')
  .option('--json', 'print JSON')
  .addHelpText(
    'after',
    '\nA row has playerId, delta (or a value for each column of the board), and maybe occurredAt and attributes. If a row is' +
      '\nrefused, nothing is sent. Repeating an import sends only the events that the log lacks, also after a crash.' +
      '\nExit code 1: rows are refused, players have changed since they were imported, or the comparison finds a difference.' +
      '\n\nExamples:\n  ranklog import arena scores.csv --at 2026-11-20T00:00:00Z --dry-run' +
      '\n  ranklog import arena redis://localhost:6379 --key highscores --at 2026-11-20T00:00:00Z' +
      '\n  ranklog import arena redis://localhost:6379 --key highscores --compare',
  )
  .action(lazy(async () => (await import('../commands/import.js')).importScores));
