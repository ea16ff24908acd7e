import {
  ExpiredViewError,
  type BoardReader,
  type PlayerStanding,
  type Standing,
} from '#board-store';
import { openRedis } from '../sessions/session.js';
import { withTime } from '../text/board-times.js';
import { EXIT, readCode } from '../text/exit-codes.js';
import type { ReadOptions } from '../text/options.js';
import { print, table } from '../text/output.js';
import { banJson, entryText, type BanJson } from '../text/player-text.js';

type RankOptions = ReadOptions & { readonly dense?: boolean };

type Place = Standing & Pick<PlayerStanding, 'view' | 'size'>;

export async function rank(board: string, player: string, options: RankOptions): Promise<number> {
  using redis = await openRedis(options.generation);
  const { reader } = redis.stores;
  const { view, window, where, at, dense } = options;
  const namesView = [view, window, where, at].some((option) => option !== undefined);
  const selection = await withTime(reader, board, options);
  const { found, stale } = namesView
    ? { found: [await reader.player(board, player, selection)], stale: false }
    : await readEverywhere(reader, { board, player, dense });

  const isStale = stale || found.some((place) => place.stale);
  const places = found.flatMap(({ view, size, standing }) =>
    standing === null ? [] : [{ view, size, ...standing }],
  );
  if (dense === true && places.some(({ denseRank }) => denseRank === undefined))
    process.stderr.write(
      'ranklog: a dense rank is missing: too many players are in front to count it\n',
    );

  const entry = places.length > 0 ? null : await reader.ban(board, player);
  const ban = entry === null || entry.kind === 'unbanned' ? null : banJson(board, entry);
  const answer = { board, playerId: player, stale: isStale, ban, places };
  print(answer, options, toText);
  return readCode(isStale, places.length > 0 ? EXIT.ok : EXIT.no);
}

async function readEverywhere(
  reader: BoardReader,
  { board, player, dense }: { board: string; player: string; dense: boolean | undefined },
): Promise<{ found: PlayerStanding[]; stale: boolean }> {
  const found: PlayerStanding[] = [];
  let isStale = false;
  for await (const { views, stale } of reader.viewPages(board)) {
    const reads = views.map(({ view }) =>
      reader.player(board, player, { view, dense }).catch((error: unknown) => {
        // It has expired since the views were listed
        if (error instanceof ExpiredViewError) return [];
        throw error;
      }),
    );
    const read = (await Promise.all(reads)).flat();
    isStale ||= stale || read.some((place) => place.stale);
    // Keeps only views that rank the player: a board may have a million views.
    found.push(...read.filter(({ standing }) => standing !== null));
  }
  return { found, stale: isStale };
}

interface Answer {
  readonly board: string;
  readonly playerId: string;
  readonly ban: BanJson | null;
  readonly places: readonly Place[];
}

function toText({ board, playerId, ban, places }: Answer): string {
  const why = ban === null ? '' : `: ${entryText(ban)}`;
  if (places.length === 0) return `${playerId} is not ranked on ${board}${why}`;
  const columns = Object.keys(places[0]?.columns ?? {});
  const dense = places.some(({ denseRank }) => denseRank !== undefined);
  const head = ['view', 'rank', 'competition', ...(dense ? ['dense'] : []), 'ahead of', '%'];
  const rows = places.map(({ view, size, ...standing }) => [
    view,
    standing.rank,
    standing.competitionRank,
    ...(dense ? [standing.denseRank ?? ''] : []),
    `${standing.aheadOf} of ${size}`,
    standing.percentile,
    ...columns.map((column) => standing.columns[column] ?? ''),
    standing.reachedAt,
  ]);
  return `${playerId} on ${board}\n\n${table([...head, ...columns, 'reached'], rows)}`;
}
