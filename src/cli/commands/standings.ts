import { parseView, suggestion } from '#board';
import type { BoardReader, Standings } from '#board-store';
import { readTop } from '../../standings/pages.js';
import { EXIT } from '../exit-codes.js';
import { print, table } from '../output.js';
import { withRedis } from '../session.js';
import type { ReadOptions } from '../usage/options.js';

export interface StandingsOptions extends ReadOptions {
  readonly top: number;
  readonly all?: boolean;
}

export function standings(board: string, options: StandingsOptions): Promise<number> {
  return withRedis(async ({ reader }) => {
    const most = options.all === true ? Infinity : options.top;
    const request = { ...options, most };
    const { standings: found, consistent } = await readTop(reader, board, request);
    if (!consistent) process.stderr.write('ranklog: the view changed during the read; try again\n');
    if (found.stale) warnOfStale();
    if (found.size === 0) await warnOfEmpty(reader, found);
    print(toJson(found), options, () => toTable(found));
    return EXIT.ok;
  }, options.generation);
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
  return { board, view, stale, size, entries };
}

function toTable({ board, view, size, entries }: Standings): string {
  const columns = Object.keys(entries[0]?.columns ?? {});
  const head = ['rank', 'player', ...columns, 'reached'];
  const rows = entries.map(({ rank, playerId, columns: values, reachedAt }) => [
    rank,
    playerId,
    ...columns.map((name) => values[name] ?? ''),
    reachedAt,
  ]);
  const more =
    entries.length < size ? `\n${entries.length} of ${size} players; --all shows the rest` : '';
  return `${board}: ${view}\n\n${table(head, rows)}${more}`;
}
