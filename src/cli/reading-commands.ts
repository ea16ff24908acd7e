import { Option } from 'commander';
import { LazyCommand } from './run-command.js';
import {
  collect,
  collectNamed,
  GENERATION,
  givenTime,
  IN_ZONE_OF_BOARD,
  PLAYER,
  wholeNumber,
} from './text/options.js';

/** A command that reads a view of a board. */
function viewCommand(name: string): LazyCommand {
  const view = new Option('--view <view>', 'the view, as "ranklog views" prints it');
  return new LazyCommand(name)
    .argument('<board>')
    .addOption(view.conflicts(['window', 'where']))
    .option(
      '--window <window>',
      'the window, such as week, week:previous or week:2026-W47 (default: all, or the first ' +
        'window of the board)',
    )
    .option('--where <name=value>', 'the value of a dimension; repeatable', collectNamed)
    .option(
      '--at <time>',
      'the time that decides which window is current, and which is previous; ' +
        `${IN_ZONE_OF_BOARD} (default: now)`,
      givenTime,
    );
}

const status = new LazyCommand('status')
  .description('show the progress of ingest by partition, counters by board, and reconciliations')
  .option('--wait <seconds>', 'wait until all records now in the log are published', wholeNumber)
  .notes(
    'Exit code with --wait: 0 when all is published, 1 when the time is up.\n\nExample:\n  ' +
      'ranklog status --wait 60',
  )
  .answers(async () => (await import('./commands/status.js')).status);

const views = new LazyCommand('views')
  .description('list the views of a board and when they expire')
  .argument('<board>')
  .addOption(GENERATION)
  .notes('Example:\n  ranklog views football')
  .answers(async () => (await import('./commands/views.js')).views);

const standings = viewCommand('standings')
  .alias('top')
  .description('show a view of a board from the top, or from a rank')
  .addOption(GENERATION)
  .option('--top <n>', 'how many players to show', wholeNumber, 20)
  .option('--all', 'show all players')
  .option('--from <rank>', 'begin with this rank', wholeNumber)
  .addOption(
    new Option(
      '--after <cursor>',
      'go on after another page of the same view, by "next" of its JSON; exact while ranks change',
    ).conflicts(['from', 'view', 'window', 'where', 'at']),
  )
  .addOption(
    new Option('--live', 'show the view again after each change, until Ctrl-C').conflicts([
      'all',
      'from',
      'after',
      'generation',
      'json',
    ]),
  )
  .notes(
    'Examples:\n  ranklog standings football --where league=en.1 --where season=2019-20 ' +
      '--all\n  ranklog standings football --view "all league=en.1 season=2019-20" --json\n  ' +
      'ranklog standings arena --window week:previous\n  ranklog standings arena --from 101 ' +
      '--top 100\n  ranklog top arena --live',
  )
  .answers(async () => (await import('./commands/standings.js')).standings);

const rank = viewCommand('rank')
  .description('show the rank of a player in every view, or in one; exit code 1: not ranked')
  .argument('<player>', PLAYER)
  .addOption(GENERATION)
  .option('--dense', 'add the dense rank: Redis looks at up to 10,000 players in front')
  .notes(
    'Examples:\n  ranklog rank football liverpool --view "all league=en.1 season=2019-20"\n  ' +
      'ranklog rank arena p-17 --window week',
  )
  .answers(async () => (await import('./commands/rank.js')).rank);

const around = viewCommand('around')
  .description('show the players around a player; exit code 1: not ranked')
  .argument('<player>', PLAYER)
  .addOption(GENERATION)
  .option('--above <n>', 'how many players in front', Number, 5)
  .option('--below <n>', 'how many players behind', Number, 5)
  .notes('Example:\n  ranklog around arena p-17 --window week --above 2 --below 2')
  .answers(async () => (await import('./commands/standings.js')).around);

const explain = viewCommand('explain')
  .description(
    'show the events that made the place of a player, and what decides against neighbours',
  )
  .argument('<player>', PLAYER)
  .option('--limit <n>', 'show the last n events; all are counted', wholeNumber, 20)
  .option(
    '--all-partitions',
    'read all partitions, for producers without keys or with other partitioners',
  )
  .notes(
    "Reads the partition of the player's key, as Kafka's default partitioner chooses it. " +
      'Exit code 1: not ranked, or these events do not explain the place.\n\nExample:\n  ' +
      'ranklog explain arena p-17 --window week --limit 50',
  )
  .answers(async () => (await import('./commands/explain.js')).explain);

const exportBoard = new LazyCommand('export')
  .description('write all players of all views of a board, or of some views')
  .argument('<board>')
  .addOption(
    new Option('--format <format>', 'a JSON object for each player, or a row of CSV')
      .choices(['ndjson', 'csv'])
      .default('ndjson'),
  )
  .option('--view <view>', 'only this view, as "ranklog views" prints it; repeatable', collect)
  .addOption(GENERATION)
  .notes('Example:\n  ranklog export arena --format csv --view all > arena.csv')
  .runs(async () => (await import('./commands/export.js')).exportBoard);

const watch = new LazyCommand('watch')
  .description('print rank changes as they are published')
  .argument('[board]', 'only this board')
  .option('--leaders', 'print leader changes instead, of boards that publish them')
  .option('--from-beginning', 'start with the first change in Kafka')
  .option('--player <id>', 'only changes of this player')
  .option('--limit <n>', 'end after n changes', wholeNumber)
  .option('--json', 'print one JSON object a line')
  .notes(
    'Examples:\n  ranklog watch football --player liverpool --from-beginning\n  ranklog ' +
      'watch arena --leaders',
  )
  .runs(async () => (await import('./commands/watch.js')).watch);

/** The commands that read boards, in the order of the help. */
export const READING = [status, views, standings, rank, around, explain, exportBoard, watch];
