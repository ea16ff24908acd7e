import stringWidth from 'string-width';
import type { Standings } from '#board-store';
import type { JsonOption } from './options.js';

/** Prints a value as JSON, or as the text that `text` returns. */
export function print<T>(value: T, { json }: JsonOption, text: (value: T) => string): void {
  process.stdout.write(`${json ? JSON.stringify(value, null, 2) : text(value)}\n`);
}

/** Prints a part of a long output. Resolves when it is written, so that few parts are in memory. */
export function printPart(text: string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(text, () => resolve()); // run-command.ts handles errors of standard output
  });
}

type Cell = string | number | boolean;

/** Rows below a head, in columns; columns of numbers are aligned to the right. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const lines = [head, ...rows].map((row) => row.map(String));
  const columns = head.map((_, column) => ({
    isNumeric: rows.length > 0 && rows.every((row) => NUMBER.test(String(row[column]))),
    width: lines.reduce((width, line) => Math.max(width, stringWidth(line[column] ?? '')), 0),
  }));
  const aligned = (cell: string, column: number): string => {
    const { isNumeric = false, width = 0 } = columns[column] ?? {};
    const space = ' '.repeat(width - stringWidth(cell));
    return isNumeric ? space + cell : cell + space;
  };
  return lines.map((line) => line.map(aligned).join('  ').trimEnd()).join('\n');
}

const NUMBER = /^[-+]?\d+(\.\d+)?$/;

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
