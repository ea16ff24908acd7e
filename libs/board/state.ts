import type { BoardDefinition, Column } from './definition.js';
import { formatDecimal } from './decimal.js';

/**
 * What a board knows of one player in one view: each column's value and time.
 *
 * Values are in *sort direction*: minor units, negated for `desc`, so that smaller is better and nothing below
 * the definition knows of orders. `settled` is false for a `sum` that has seen no delta but 0 yet; its time is
 * then that of the earliest event, later that of the latest delta that is not 0.
 */
export type PlayerState = readonly ColumnState[];
export interface ColumnState {
  readonly value: number;
  readonly time: number;
  readonly settled: boolean;
}

/** Minor units in sort direction, and back: its own inverse. Adding 0 turns -0 into 0. */
export function sortDirection({ order }: Pick<Column, 'order'>, minor: number): number {
  return (order === 'desc' ? -minor : minor) + 0;
}

/** The text in Redis: a word per column, `value@time`, or `value~time` while not settled. */
export function parseState(text: string): PlayerState {
  return text.split(' ').map((word) => {
    const mark = word.search(/[@~]/);
    return {
      value: Number(word.slice(0, mark)),
      time: Number(word.slice(mark + 1)),
      settled: word[mark] === '@',
    };
  });
}

/** The latest time of the columns, in ms: breaks ties. A repeated `latest` submission moves it (decision 16). */
export function reachTime(state: PlayerState): number {
  return Math.max(...state.map(({ time }) => time));
}

/** A column's value in sort direction as the decimal string that people read. */
export function decimalText(column: Pick<Column, 'order' | 'decimals'>, value: number): string {
  return formatDecimal(sortDirection(column, value), column.decimals);
}

/** Column names and decimal strings, as people read them. */
export function decimalColumns(
  { columns }: Pick<BoardDefinition, 'columns'>,
  values: readonly number[],
): Record<string, string> {
  return Object.fromEntries(
    columns.map((column, index) => [column.name, decimalText(column, values[index] ?? 0)]),
  );
}
