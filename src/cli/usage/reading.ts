import { Command } from 'commander';
import type { RankOptions } from '../commands/rank.js';
import type { StandingsOptions } from '../commands/standings.js';
import type { StatusOptions } from '../commands/status.js';
import type { ViewsOptions } from '../commands/views.js';
import type { WatchOptions } from '../commands/watch.js';
import { runCommand } from '../run-command.js';
import { wholeNumber } from './option-values.js';
import { addGenerationOption, addViewOptions } from './shared-options.js';

/** `ranklog status`: how far every partition is; with --wait, until what is in the log now is published. */
export function statusCommand(): Command {
  return new Command('status')
    .description(
      'show how far ingest is in each partition, what each board has counted, and what is being built',
    )
    .option(
      '--wait <seconds>',
      'wait until all that is in the log now is applied and published',
      wholeNumber,
    )
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExit code with --wait: 0 when it is published, 1 when time was up.\n\nExample:\n  ranklog status --wait 60',
    )
    .action((options: StatusOptions) =>
      runCommand(async () => (await import('../commands/status.js')).status(options)),
    );
}

/** `ranklog views BOARD`: the rankings of a board. */
export function viewsCommand(): Command {
  const command = new Command('views')
    .description('list the views of a board, each one ranking, and when they expire')
    .argument('<board>');
  return addGenerationOption(command)
    .option('--json', 'as JSON')
    .addHelpText('after', '\nExample:\n  ranklog views football')
    .action((board: string, options: ViewsOptions) =>
      runCommand(async () => (await import('../commands/views.js')).views(board, options)),
    );
}

/** `ranklog standings BOARD`: a view, from the top. */
export function standingsCommand(): Command {
  const command = new Command('standings')
    .description('show a view of a board from the top')
    .argument('<board>');
  return addGenerationOption(addViewOptions(command))
    .option('--top <n>', 'how many players', wholeNumber, 20)
    .option('--all', 'all players')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  ranklog standings football --where league=en.1 --where season=2019-20 --all\n  ranklog standings football --view "all league=en.1 season=2019-20" --json\n  ranklog standings arena --window week:previous',
    )
    .action((board: string, options: StandingsOptions) =>
      runCommand(async () => (await import('../commands/standings.js')).standings(board, options)),
    );
}

/** `ranklog rank BOARD PLAYER`: where a player stands; exit code 1 for one who is ranked nowhere. */
export function rankCommand(): Command {
  const command = new Command('rank')
    .description('show where a player stands, in every view or in one; exit code 1: not ranked')
    .argument('<board>')
    .argument('<player>');
  return addGenerationOption(addViewOptions(command))
    .option('--dense', 'count the dense rank, too: Redis looks at up to 10,000 players in front')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  ranklog rank football liverpool --view "all league=en.1 season=2019-20"\n  ranklog rank arena p-17 --window week',
    )
    .action((board: string, player: string, options: RankOptions) =>
      runCommand(async () => (await import('../commands/rank.js')).rank(board, player, options)),
    );
}

/** `ranklog watch`: committed rank changes, or leader changes, as they come. */
export function watchCommand(): Command {
  return new Command('watch')
    .description('show rank changes as they come')
    .argument('[board]', 'only this board')
    .option('--leaders', 'leader changes, of boards that publish them, in place of rank changes')
    .option('--from-beginning', 'begin with the first change that Kafka has')
    .option('--player <id>', 'only this player; with --leaders, who entered, left or moved')
    .option('--limit <n>', 'end after so many changes', wholeNumber)
    .option('--json', 'one JSON object a line')
    .addHelpText(
      'after',
      '\nExamples:\n  ranklog watch football --player liverpool --from-beginning\n  ranklog watch arena --leaders',
    )
    .action((board: string | undefined, options: WatchOptions) =>
      runCommand(async () => (await import('../commands/watch.js')).watch(board, options)),
    );
}
