import { formatDecimal, parseDecimal } from './decimal.js';
import type { BoardDefinition, Column } from './definition.js';
import { Rejected } from './rejected.js';
import { sortDirection } from './state.js';

/** The numbers of an event, as decimal texts: `delta` for a board with one input, else `deltas`. */
export interface EventNumbers {
  readonly delta?: string;
  readonly deltas?: Readonly<Record<string, string>>;
}

/** What feeds a column: the weight of each input. */
type Inputs = readonly (readonly [input: string, weight: number])[];

const inputsOf = new WeakMap<Column, Inputs>();

/** The inputs of a column with their weights: those of `from`, else the column's own name. */
export function columnInputs(column: Column): Inputs {
  let inputs = inputsOf.get(column);
  if (inputs === undefined) {
    inputs = column.from === undefined ? [[column.name, 1]] : Object.entries(column.from);
    inputsOf.set(column, inputs);
  }
  return inputs;
}

const inputsOfBoard = new WeakMap<readonly Column[], readonly string[]>();

/** All names that the `deltas` of a board's events may have. */
export function boardInputs({ columns }: Pick<BoardDefinition, 'columns'>): readonly string[] {
  let inputs = inputsOfBoard.get(columns);
  if (inputs === undefined) {
    const names = columns.flatMap((column) => columnInputs(column).map(([input]) => input));
    inputs = [...new Set(names)];
    inputsOfBoard.set(columns, inputs);
  }
  return inputs;
}

/** A value for each column in sort direction, null for a sum that got nothing. @throws Rejected */
export function columnValues(
  definition: BoardDefinition,
  numbers: EventNumbers,
): (number | null)[] {
  const { board, columns } = definition;
  const given = numbers.deltas ?? onlyInput(definition, numbers.delta);
  for (const name in given)
    if (!boardInputs(definition).includes(name))
      throw new Rejected(
        'UNKNOWN_COLUMN',
        `board "${board}" has no column ${JSON.stringify(name)}; its events have ${boardInputs(definition).join(', ')}`,
      );
  return columns.map((column) => {
    const minor = columnValue(board, column, given);
    return minor === null ? null : sortDirection(column, bounded(board, column, minor));
  });
}

function onlyInput(definition: BoardDefinition, delta: string | undefined): Record<string, string> {
  const [input, second] = boardInputs(definition);
  if (delta === undefined || input === undefined || second !== undefined)
    throw new Rejected(
      'DELTA_NEEDS_ONE_COLUMN',
      `events of board "${definition.board}" have ${boardInputs(definition).join(', ')}; send "deltas" with a value for each in place of "delta"`,
    );
  return { [input]: delta };
}

/** What the event brings to a column, in minor units; null when it names none of the column's inputs. */
function columnValue(
  board: string,
  column: Column,
  given: Readonly<Record<string, string>>,
): number | null {
  let sum: bigint | number | null = null;
  for (const [input, weight] of columnInputs(column)) {
    const text = Object.hasOwn(given, input) ? given[input] : undefined;
    if (text === undefined) continue;
    const minor = inputValue(board, column, input, text);
    const product = weight === 1 ? minor : exactProduct(minor, weight);
    if (product === undefined) throw outOfRange(board, column);
    sum = sum === null ? product : BigInt(sum) + BigInt(product);
  }
  if (sum === null && column.update !== 'sum')
    throw new Rejected(
      'MISSING_COLUMN',
      `board "${board}" keeps the ${column.update} of "${column.name}", so every event needs it`,
    );
  if (sum === null || Number.isSafeInteger(Number(sum))) return sum === null ? null : Number(sum);
  throw outOfRange(board, column);
}

/** undefined beyond +-(2^53-1). */
function exactProduct(minor: number, weight: number): number | undefined {
  const product = Number(BigInt(minor) * BigInt(weight));
  return Number.isSafeInteger(product) ? product : undefined;
}

function outOfRange(board: string, column: Column): Rejected {
  return new Rejected(
    'OUT_OF_RANGE',
    `column "${column.name}" of board "${board}": the weighted sum of ${columnInputs(column)
      .map(([input, weight]) => `${weight} x ${input}`)
      .join(', ')} is beyond +-(2^53-1) minor units`,
  );
}

function inputValue(board: string, column: Column, input: string, text: string): number {
  const parsed = parseDecimal(text, column.decimals);
  if (parsed.ok) return parsed.minor;
  const value = `column "${column.name}" of board "${board}": ${input === column.name ? '' : `"${input}" `}${JSON.stringify(text.slice(0, 80))}`;
  switch (parsed.reason) {
    case 'NOT_A_DECIMAL':
      throw new Rejected('INVALID_NUMBER', `${value} is not a decimal number such as 12 or -0.5`);
    case 'TOO_MANY_DECIMALS':
      throw new Rejected(
        'TOO_MANY_DECIMALS',
        `${value} has more decimals than the column's ${column.decimals}`,
      );
    case 'OUT_OF_RANGE':
      throw new Rejected('OUT_OF_RANGE', `${value} is beyond +-(2^53-1) minor units`);
  }
}

function bounded(board: string, column: Column, minor: number): number {
  const { min = -Infinity, max = Infinity, decimals, name } = column;
  if (minor >= min && minor <= max) return minor;
  const bound =
    minor < min ? `min ${formatDecimal(min, decimals)}` : `max ${formatDecimal(max, decimals)}`;
  throw new Rejected(
    'OUT_OF_BOUNDS',
    `column "${name}" of board "${board}": ${formatDecimal(minor, decimals)} is beyond the column's ${bound}`,
  );
}
