import { ExpiredViewError, type BoardReader, type Standing, type Standings } from '#board-store';
import { formatTime } from '#board';
import { EXIT } from '../exit-codes.js';
import { print, table } from '../output.js';
import { withRedis } from '../session.js';
import type { ViewOptions } from '../usage/options.js';
import { entryToJson, viewOf, warnOfStale } from './standings.js';

export interface RankOptions extends ViewOptions {
  readonly dense?: boolean;
  readonly generation?: string;
  readonly json?: boolean;
}
interface Place {
  readonly view: string;
  readonly size: number;
  readonly standing: Standing;
}

export function rank(board: string, player: string, options: RankOptions): Promise<number> {
  return withRedis(async ({ reader }) => {
    const readRank = (view: string) => reader.rank(board, view, player, options);
    const { view, window, where, at } = options;
    const isOne = [view, window, where, at].some((option) => option !== undefined);
    const { stale, found } = isOne
      ? await rankInOne(reader, board, options, readRank)
      : await rankEverywhere(reader, board, readRank);
    if (stale) warnOfStale();
    const places = found.flatMap(({ view, size, entries }) =>
      entries.map((standing) => ({ view, size, standing })),
    );
    if (options.dense === true && places.some(({ standing }) => standing.denseRank === undefined))
      process.stderr.write(`ranklog: ${TOO_DEEP}\n`);
    const json = places.map(({ view, size, standing }) => ({
      view,
      size,
      ...entryToJson(standing),
    }));
    print({ board, playerId: player, stale, places: json }, options, () =>
      toTable(board, player, places),
    );
    return places.length > 0 ? EXIT.ok : EXIT.no;
  }, options.generation);
}

const TOO_DEEP = 'a dense rank is missing: more than 10,000 players are in front';

type ReadRank = (view: string) => Promise<Standings>;

async function rankInOne(
  reader: BoardReader,
  board: string,
  options: ViewOptions,
  readRank: ReadRank,
) {
  const { definition } = await reader.liveBoard(board);
  const standings = await readRank(viewOf(definition, options));
  return { stale: standings.stale, found: [standings] };
}

async function rankEverywhere(reader: BoardReader, board: string, readRank: ReadRank) {
  const found: Standings[] = [];
  let isStale = false;
  for await (const { views, stale } of reader.viewPages(board)) {
    const read = await Promise.all(
      views.map(({ view }) =>
        readRank(view).catch((error: unknown) => {
          if (error instanceof ExpiredViewError) return undefined; // it has expired since the views were listed
          throw error;
        }),
      ),
    );
    const standings = read.filter((one) => one !== undefined);
    isStale ||= stale || standings.some((one) => one.stale);
    found.push(...standings.filter(({ entries }) => entries.length > 0));
  }
  return { stale: isStale, found };
}

function toTable(board: string, player: string, places: readonly Place[]): string {
  if (places.length === 0) return `${player} is not ranked on ${board}`;
  const columns = Object.keys(places[0]?.standing.columns ?? {});
  const dense = places.some(({ standing }) => standing.denseRank !== undefined);
  const head = ['view', 'rank', 'competition', ...(dense ? ['dense'] : []), 'ahead of', '%'];
  const rows = places.map(({ view, size, standing }) => [
    view,
    standing.rank,
    standing.competitionRank,
    ...(dense ? [standing.denseRank ?? ''] : []),
    `${standing.aheadOf} of ${size}`,
    standing.percentile,
    ...columns.map((column) => standing.columns[column] ?? ''),
    formatTime(standing.reachedAt),
  ]);
  return `${player} on ${board}\n\n${table([...head, ...columns, 'reached'], rows)}`;
}
