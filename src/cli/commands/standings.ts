import { formatTime, parseView, suggestion, type Column } from '#board';
import type { BoardReader, Standing, Standings } from '#board-store';
import { readTop } from '../../standings/pages.js';
import { EXIT } from '../exit-codes.js';
import { print, table } from '../output.js';
import { withRedis } from '../session.js';
import type { ViewOptions } from '../usage/shared-options.js';
import { viewOf } from '../view-of.js';

export interface StandingsOptions extends ViewOptions {
  readonly top: number;
  readonly all?: boolean;
  readonly generation?: string;
  readonly json?: boolean;
}

/** `ranklog standings BOARD`: a view, from the top. */
export function standings(board: string, options: StandingsOptions): Promise<number> {
  return withRedis(({ reader }) => showStandings(reader, board, options), options.generation);
}

async function showStandings(
  reader: BoardReader,
  board: string,
  options: StandingsOptions,
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
