import { Command } from 'commander';
import type { BoardReader, Standing } from '#board-store';
import { formatTime } from '#contracts';
import { EXIT } from '../exit-codes.js';
import { liveBoard } from '../live-board.js';
import { print, table } from '../output.js';
import { runCommand } from '../run-command.js';
import { withRedis } from '../session.js';
import { viewOf } from '../view-option.js';
import { entryToJson } from './standings.js';

interface Options {
  readonly view?: string;
  readonly json?: boolean;
}
interface Place {
  readonly view: string;
  readonly standing: Standing;
}

/** `ranklog rank BOARD PLAYER`: where a player stands; exit code 1 for one who is ranked nowhere. */
export function rankCommand(): Command {
  return new Command('rank')
    .description('show where a player stands, in every view or in one; exit code 1: not ranked')
    .argument('<board>')
    .argument('<player>')
    .option('--view <view>', 'only this view')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  ranklog rank football liverpool --view "all league=en.1 season=2019-20"',
    )
    .action((board: string, player: string, options: Options) =>
      runCommand(() =>
        withRedis(async ({ reader }) => {
          const places = await findPlaces(reader, board, player, options.view);
          const json = places.map(({ view, standing }) => ({ view, ...entryToJson(standing) }));
          print({ board, playerId: player, places: json }, options, () =>
            toTable(board, player, places),
          );
          return places.length > 0 ? EXIT.ok : EXIT.no;
        }),
      ),
    );
}

async function findPlaces(
  reader: BoardReader,
  board: string,
  player: string,
  only?: string,
): Promise<Place[]> {
  const { definition } = await liveBoard(reader, board);
  const views =
    only === undefined
      ? (await reader.views(board)).map(({ view }) => view)
      : [viewOf(definition, { view: only })];
  const standings = await Promise.all(views.map((view) => reader.rank(board, view, player)));
  return views.flatMap((view, index) => {
    const standing = standings[index];
    return standing === undefined ? [] : [{ view, standing }];
  });
}

function toTable(board: string, player: string, places: readonly Place[]): string {
  if (places.length === 0) return `${player} is not ranked on ${board}`;
  const columns = Object.keys(places[0]?.standing.columns ?? {});
  const rows = places.map(({ view, standing }) => [
    view,
    standing.rank,
    ...columns.map((column) => standing.columns[column] ?? ''),
    formatTime(standing.reachedAt),
  ]);
  return `${player} on ${board}\n\n${table(['view', 'rank', ...columns, 'reached'], rows)}`;
}
