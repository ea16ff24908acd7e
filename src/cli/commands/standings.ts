import { Command, InvalidArgumentError } from 'commander';
import { parseView, suggestion, type Column } from '#board';
import type { BoardReader, Standing, Standings } from '#board-store';
import { formatTime } from '#contracts';
import { readTop } from '../../query/pages.js';
import { EXIT } from '../exit-codes.js';
import { print, table } from '../output.js';
import { runCommand } from '../run-command.js';
import { withRedis } from '../session.js';
import { addGenerationOption, addViewOptions, viewOf, type ViewOptions } from '../view-option.js';

interface Options extends ViewOptions {
  readonly top: number;
  readonly all?: boolean;
  readonly generation?: string;
  readonly json?: boolean;
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
    .action((board: string, options: Options) =>
      runCommand(() =>
        withRedis(({ reader }) => showStandings(reader, board, options), options.generation),
      ),
    );
}

async function showStandings(
  reader: BoardReader,
  board: string,
  options: Options,
): Promise<number> {
  const { definition } = await reader.liveBoard(board);
  const view = viewOf(definition, options);
  const most = options.all === true ? Infinity : options.top;
  const { standings, consistent } = await readTop(reader, { board, view, most });
  if (!consistent) process.stderr.write('ranklog: the view moved while it was read\n');
  if (standings.stale) tellStale();
  if (standings.size === 0) await tellEmpty(reader, standings);
  print(toJson(standings), options, () => toTable(standings, definition.columns));
  return EXIT.ok;
}

/** A view may be empty because a value in its name has a slip in it. Another window would be no slip. */
async function tellEmpty(reader: BoardReader, { board, view }: Standings): Promise<void> {
  const { window } = parseView(view);
  const views = (await reader.views(board)).map((summary) => summary.view);
  const known = views.filter((text) => parseView(text).window === window);
  process.stderr.write(`ranklog: nobody is ranked in "${view}"${suggestion(view, known)}\n`);
}

/** Says that what is read now must not be taken for the truth. */
export function tellStale(): void {
  process.stderr.write(
    'ranklog: stale: Redis was restarted or replaced; what it has lost is applied again, or not known yet. "ranklog status" shows how far\n',
  );
}

/** A whole number of at least 1, for commander. */
export function wholeNumber(text: string): number {
  const value = Number(text);
  if (!/^\d{1,15}$/.test(text) || value < 1)
    throw new InvalidArgumentError('use a whole number from 1');
  return value;
}

function toJson({ board, view, stale, size, entries }: Standings) {
  return { board, view, stale, size, entries: entries.map(entryToJson) };
}

/** A place as `standings --json` and `rank --json` print it. */
export function entryToJson({ reachedAt, ...place }: Standing) {
  return { ...place, reachedAt: formatTime(reachedAt) };
}

function toTable(
  { board, view, size, entries }: Standings,
  columns: readonly Pick<Column, 'name'>[],
): string {
  const head = ['rank', 'player', ...columns.map(({ name }) => name), 'reached'];
  const rows = entries.map(({ rank, playerId, columns: values, reachedAt }) => [
    rank,
    playerId,
    ...columns.map(({ name }) => values[name] ?? ''),
    formatTime(reachedAt),
  ]);
  const more =
    entries.length < size ? `\n${entries.length} of ${size} players; --all shows the rest` : '';
  return `${board}: ${view}\n\n${table(head, rows)}${more}`;
}
