import { parseView, suggestion } from '#board';
import {
  walkView,
  type BoardReader,
  type Standing,
  type Standings,
  type ViewSelection,
} from '#board-store';
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
    const { top, all, ...selection } = options;
    const found = await readTop(reader, board, { ...selection, most: all ? Infinity : top });
    if (!found.isSame)
      process.stderr.write('ranklog: the view changed during the read; try again\n');
    if (found.stale) warnOfStale();
    if (found.size === 0) await warnOfEmpty(reader, found);
    print(toJson(found), options, () => toTable(found));
    return EXIT.ok;
  }, options.generation);
}

/**
 * The first `most` players of a view, page after page. `isSame` is false if the view changed meanwhile: a player who moved may then
 * be missing or appear twice, and the pages after the change have no dense ranks.
 */
export async function readTop(
  reader: Pick<BoardReader, 'standings'>,
  board: string,
  request: ViewSelection & { readonly most: number },
): Promise<Standings & { readonly isSame: boolean }> {
  const pages = walkView((page) => reader.standings(board, page), request);
  const first = (await pages.next()).value as Standings; // a walk has a page
  const entries = [...first.entries];
  let isSame = true;
  for await (const page of pages) {
    isSame &&= page.version === first.version;
    entries.push(...(isSame ? countDense(page.entries, entries.at(-1)) : page.entries));
  }
  return { ...first, entries, isSame };
}

/** Adds dense ranks to a page, counting on from `before`, the last entry of the page before. */
function countDense(entries: readonly Standing[], before: Standing | undefined): Standing[] {
  let { competitionRank = 0, denseRank = 0 } = before ?? {};
  return entries.map((entry) => {
    if (entry.competitionRank !== competitionRank) denseRank += 1;
    competitionRank = entry.competitionRank;
    return { ...entry, denseRank };
  });
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
