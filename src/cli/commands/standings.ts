import {
  formatTime,
  parseView,
  suggestion,
  viewToRead,
  windowName,
  type BoardDefinition,
  type Column,
} from '#board';
import type { BoardReader, Standing, Standings } from '#board-store';
import { readTop } from '../../standings/pages.js';
import { EXIT } from '../exit-codes.js';
import { print, table } from '../output.js';
import { withRedis } from '../session.js';
import type { ViewOptions } from '../usage/options.js';

export interface StandingsOptions extends ViewOptions {
  readonly top: number;
  readonly all?: boolean;
  readonly generation?: string;
  readonly json?: boolean;
}

export function standings(board: string, options: StandingsOptions): Promise<number> {
  return withRedis(async ({ reader }) => {
    const { definition } = await reader.liveBoard(board);
    const view = viewOf(definition, options);
    const most = options.all === true ? Infinity : options.top;
    const { standings: found, consistent } = await readTop(reader, { board, view, most });
    if (!consistent) process.stderr.write('ranklog: the view changed during the read; try again\n');
    if (found.stale) warnOfStale();
    if (found.size === 0) await warnOfEmpty(reader, found);
    print(toJson(found), options, () => toTable(found, definition.columns));
    return EXIT.ok;
  }, options.generation);
}

/** The view that the options name. By default the overall view of `all`, or of the board's first window. */
export function viewOf(
  definition: BoardDefinition,
  { view, window, where = [], at = Date.now() }: ViewOptions,
): string {
  const selection =
    view === undefined ? { window: window ?? defaultWindow(definition), where } : parseView(view);
  return viewToRead(definition, selection, at).view;
}

function defaultWindow({ windows }: BoardDefinition): string {
  const window = windows.find(({ kind }) => kind === 'all') ?? windows[0];
  return window === undefined ? 'all' : windowName(window);
}

/** Warns of an empty view, and suggests a similar one of the same window, in case the name is misspelt. */
async function warnOfEmpty(reader: BoardReader, { board, view }: Standings): Promise<void> {
  const { window } = parseView(view);
  const views = (await reader.views(board)).map((summary) => summary.view);
  const known = views.filter((text) => parseView(text).window === window);
  process.stderr.write(`ranklog: nobody is ranked in "${view}"${suggestion(view, known)}\n`);
}

/** Warns that ranks may be wrong until recovery ends. */
export function warnOfStale(): void {
  process.stderr.write(
    'ranklog: stale: Redis was restarted or replaced, and may lack events until they are applied again; "ranklog status" shows the progress\n',
  );
}

function toJson({ board, view, stale, size, entries }: Standings) {
  return { board, view, stale, size, entries: entries.map(entryToJson) };
}

/** An entry as `standings --json` and `rank --json` print it. */
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
