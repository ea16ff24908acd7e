import type { BoardDefinition, Column } from './definition.js';
import { formatDecimal } from './decimal.js';

/**
 * The value and the time of each column of one player in one view. Values are in *sort direction*:
 * minor units, negated for `desc` columns, so that smaller is always better. The time of a `sum` is
 * the time of its latest delta other than 0. Before the first such delta (not `settled`), it is the
 * time of its earliest event.
 */
export type PlayerState = readonly ColumnState[];
export interface ColumnState {
  readonly value: number;
  readonly time: number;
  readonly settled: boolean;
}

/** Converts minor units to sort direction, and back. Adding 0 turns -0 into 0. */
export function sortDirection({ order }: Pick<Column, 'order'>, minor: number): number {
  return (order === 'desc' ? -minor : minor) + 0;
}

/** In Redis, a column of a state is its value and time as doubles, then 1 if settled, else 0. */
const BYTES_OF_A_COLUMN = 17;

export function isState(bytes: Buffer, columns: number): boolean {
  return bytes.length === BYTES_OF_A_COLUMN * columns;
}

/** Reads states that follow each other. */
export function readStates(bytes: Buffer, columns: number): PlayerState[] {
  const states: ColumnState[][] = [];
  for (let start = 0; start < bytes.length; start += BYTES_OF_A_COLUMN) {
    if (start % (columns * BYTES_OF_A_COLUMN) === 0) states.push([]);
    const value = bytes.readDoubleBE(start);
    const time = bytes.readDoubleBE(start + 8);
    const settled = bytes[start + 16] === 1;
    states.at(-1)?.push({ value, time, settled });
  }
  return states;
}

export function stateBytes(state: PlayerState): Buffer {
  const bytes = Buffer.alloc(BYTES_OF_A_COLUMN * state.length);
  for (const [index, { value, time, settled }] of state.entries()) {
    const start = BYTES_OF_A_COLUMN * index;
    bytes.writeDoubleBE(value, start);
    bytes.writeDoubleBE(time, start + 8);
    bytes.writeUInt8(settled ? 1 : 0, start + 16);
  }
  return bytes;
}

/**
 * The latest time of the columns, in ms. It breaks ties. In a `latest` column, a repeated value
 * sets a new time (decision 36).
 */
export function reachTime(state: PlayerState): number {
  let latest = -Infinity;
  for (const { time } of state) if (time > latest) latest = time;
  return latest;
}

export function decimalText(column: Pick<Column, 'order' | 'decimals'>, value: number): string {
  return formatDecimal(sortDirection(column, value), column.decimals);
}

/** Values in sort direction as the decimals of the columns; a missing sum is 0. */
export function decimalColumns(
  { columns }: Pick<BoardDefinition, 'columns'>,
  values: readonly (number | null)[],
): Record<string, string> {
  return Object.fromEntries(
    columns.map((column, index) => [column.name, decimalText(column, values[index] ?? 0)]),
  );
}
