import type { Standings } from '#board-store';
import { table } from './output.js';

export function standingsJson({ board, view, stale, size, entries, next }: Standings) {
  return { board, view, stale, size, entries, next };
}

/** Places of a view as a table below its name; an arrow marks `player`. */
export function standingsText({ board, view, entries }: Standings, player?: string): string {
  const columns = Object.keys(entries[0]?.columns ?? {});
  const rows = entries.map(({ rank, playerId, columns: values, reachedAt }) => [
    rank,
    playerId === player ? `${playerId} <-` : playerId,
    ...columns.map((name) => values[name] ?? ''),
    reachedAt,
  ]);
  return `${board}: ${view}\n\n${table(['rank', 'player', ...columns, 'reached'], rows)}`;
}
