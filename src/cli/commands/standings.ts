import { parseView, suggestion } from '#board';
import {
  walkView,
  type BoardReader,
  type PageRequest,
  type Standing,
  type Standings,
} from '#board-store';
import { openRedis } from '../sessions/session.js';
import { withTime } from '../text/board-times.js';
import { EXIT, readCode } from '../text/exit-codes.js';
import type { ReadOptions } from '../text/options.js';
import { print, standingsText } from '../text/output.js';

interface StandingsOptions extends ReadOptions {
  readonly top: number;
  readonly all?: boolean;
  readonly from?: number;
  readonly after?: string;
  readonly live?: boolean;
}

export async function standings(board: string, options: StandingsOptions): Promise<number> {
  if (options.live === true) {
    const { liveStandings } = await import('../sessions/live-standings.js');
    return liveStandings(board, options);
  }

  using redis = await openRedis(options.generation);
  const { reader } = redis.stores;
  const { top, all, ...selection } = await withTime(reader, board, options);
  const most = all ? Infinity : top;
  const found = await readTop(reader, board, { ...selection, most });

  if (!found.isSame) process.stderr.write('ranklog: the view changed during the read; try again\n');
  if (found.size === 0) await warnOfEmpty(reader, found);
  print(standingsJson(found), options, () => toText(found));
  return readCode(found.stale);
}

type AroundOptions = ReadOptions & { readonly above: number; readonly below: number };

export async function around(
  board: string,
  player: string,
  options: AroundOptions,
): Promise<number> {
  using redis = await openRedis(options.generation);
  const { reader } = redis.stores;
  const request = await withTime(reader, board, options);
  const found = await reader.around(board, player, request);

  const { view, size, stale, entries } = found;
  const isRanked = entries.length > 0;
  print({ playerId: player, ...standingsJson(found) }, options, () =>
    isRanked
      ? standingsText(found, player)
      : `${player} is not ranked on ${board} in "${view}" (${size} players)`,
  );
  return readCode(stale, isRanked ? EXIT.ok : EXIT.no);
}

function standingsJson({ board, view, stale, size, entries, next }: Standings) {
  return { board, view, stale, size, entries, next };
}

/**
 * Up to `most` players of a view, page after page, with the head and the cursor of the last page.
 * `isSame` is false if the view changed meanwhile: a player who moved may then be missing or appear
 * twice, and the pages after the change have no dense ranks.
 */
export async function readTop(
  reader: Pick<BoardReader, 'standings'>,
  board: string,
  request: Omit<PageRequest, 'limit'> & { readonly most: number },
): Promise<Standings & { readonly isSame: boolean }> {
  const pages = walkView(reader, board, request);
  const begin = await pages.next();
  const first = begin.value as Standings; // there is at least one page
  const entries = [...first.entries];
  let last = first;
  let isSame = true;
  for await (const page of pages) {
    if (page.version !== first.version) isSame = false;
    const added = isSame ? countDense(page.entries, entries.at(-1)) : page.entries;
    entries.push(...added);
    last = page;
  }

  return { ...last, entries, isSame };
}

/**
 * Adds dense ranks to a page. Continues the count of `before`, the last entry of the previous page;
 * without a dense rank in `before`, returns the page as it is.
 */
function countDense(
  entries: readonly Standing[],
  before: Standing | undefined,
): readonly Standing[] {
  if (before?.denseRank === undefined) return entries;

  let denseRank = before.denseRank;
  let rankBefore = before.competitionRank;
  const counted: Standing[] = [];
  for (const entry of entries) {
    if (entry.competitionRank !== rankBefore) denseRank += 1;
    rankBefore = entry.competitionRank;
    counted.push({ ...entry, denseRank });
  }
  return counted;
}

/**
 * Warns of an empty view, and suggests a similar one of the same window, in case the name is
 * misspelt.
 */
async function warnOfEmpty(reader: BoardReader, { board, view }: Standings): Promise<void> {
  const { window } = parseView(view);
  const summaries = await reader.views(board);
  const views = summaries.map((summary) => summary.view);
  const known = views.filter((text) => parseView(text).window === window);
  process.stderr.write(`ranklog: nobody is ranked in "${view}"${suggestion(view, known)}\n`);
}

function toText(found: Standings): string {
  const { size, entries } = found;
  const hint = found.next === undefined ? '' : '; --all shows the rest';
  const shown = entries.length < size ? `\n${entries.length} of ${size} players${hint}` : '';
  return standingsText(found) + shown;
}
