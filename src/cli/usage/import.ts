import { LazyCommand } from '../run-command.js';
import { collectNamed, momentOf } from './options.js';

export const importScores = new LazyCommand('import')
  .description('make opening events of players and scores from elsewhere; safe to repeat')
  .argument('<board>')
  .argument('<source>', 'a CSV or NDJSON file, - for standard input, or the URL of a Redis')
  .option('--key <key>', 'the sorted set in that Redis')
  .option('--round', "round the scores of a sorted set to the column's decimals")
  .option('--at <time>', 'the time of the events of rows without occurredAt', momentOf)
  .option('--attribute <name=value>', 'an attribute of rows without any; repeatable', collectNamed)
  .option('--id <id>', 'a name: each player has one opening event of each import', 'opening')
  .option('--dry-run', 'send nothing; report what would be refused, and ties')
  .option('--compare', 'send nothing; compare the source with the board, player by player')
  .option('--view <view>', 'the view to compare (default: the overall ranking)')
  .option('--allow-partial-history', 'import although the beginning of the log is gone')
  .notes(
    `A row has playerId, delta or deltas (in CSV, a column for each input of the board), and maybe
occurredAt and attributes (NDJSON). Repeating an import sends only what the log lacks, also after a crash.
Exit code 1: rows are refused (each is written to standard error), or the comparison finds a difference.

Examples:
  ranklog import arena scores.csv --at 2026-11-20T00:00:00Z --dry-run
  ranklog import arena redis://localhost:6379 --key highscores --at 2026-11-20T00:00:00Z
  ranklog import arena redis://localhost:6379 --key highscores --compare`,
  )
  .answers(async () => (await import('../commands/import.js')).importScores);
