import type { Standing, Standings } from '#board-store';
import { table } from './output.js';

export function standingsJson({ board, view, stale, size, entries, next }: Standings) {
  return { board, view, stale, size, entries, next };
}

/** Places of a view as a table below its name, with a column of marks in front if `markOf` returns any. */
export function standingsText(
  { board, view, entries }: Pick<Standings, 'board' | 'view' | 'entries'>,
  markOf: (entry: Standing) => string = () => '',
): string {
  const columns = Object.keys(entries[0]?.columns ?? {});
  const marks = entries.map(markOf);
  const marked = (mark: string, cells: (string | number)[]) =>
    marks.some((text) => text !== '') ? [mark, ...cells] : cells;
  const rows = entries.map(({ rank, playerId, columns: values, reachedAt }, index) => {
    const texts = columns.map((name) => values[name] ?? '');
    return marked(marks[index] ?? '', [rank, playerId, ...texts, reachedAt]);
  });
  const head = marked('', ['rank', 'player', ...columns, 'reached']).map(String);
  return `${board}: ${view}\n\n${table(head, rows)}`;
}
