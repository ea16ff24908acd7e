import { RejectedEventError, type EventRejectionCode } from './board-errors.js';
import { formatDecimal, parseDecimal } from './decimal.js';
import { derived, type BoardDefinition, type Column } from './definition.js';
import { sortDirection } from './state.js';

/** The numbers of an event as decimal texts: `deltas`, or `delta` for a board with one input. */
export interface EventNumbers {
  readonly delta?: string;
  readonly deltas?: Readonly<Record<string, string>>;
}

/** The inputs of a column are the names in `from` with their weights, or else its own name. */
interface FedColumn {
  readonly board: string;
  readonly column: Column;
  readonly inputs: readonly (readonly [input: string, weight: number])[];
}

const fedColumns = derived(({ board, columns }): readonly FedColumn[] =>
  columns.map((column) => {
    return { board, column, inputs: Object.entries(column.from ?? { [column.name]: 1 }) };
  }),
);

/** The names that the `deltas` of a board's events can have. */
const inputsOf = derived((definition) => {
  const names = fedColumns(definition).flatMap(({ inputs }) => inputs.map(([input]) => input));
  return [...new Set(names)];
});

/** The fewest decimals of the columns that each input feeds. */
export const inputDecimals = derived((definition): ReadonlyMap<string, number> => {
  const fewest = new Map<string, number>();
  for (const { column, inputs } of fedColumns(definition))
    for (const [input] of inputs)
      fewest.set(input, Math.min(column.decimals, fewest.get(input) ?? Infinity));
  return fewest;
});

/**
 * The event's value for each column, in sort direction; null for a `sum` without any input.
 * @throws RejectedEventError
 */
export function columnValues(definition: BoardDefinition, numbers: EventNumbers) {
  const inputs = inputsOf(definition);
  const deltas = numbers.deltas ?? onlyInput(definition, numbers.delta);
  for (const name in numbers.deltas)
    if (!inputs.includes(name))
      throw new RejectedEventError(
        'UNKNOWN_COLUMN',
        `board "${definition.board}" has no input ${JSON.stringify(name)}; its inputs: ` +
          inputs.join(', '),
      );
  return fedColumns(definition).map((fed) => columnValue(fed, deltas));
}

function onlyInput(definition: BoardDefinition, delta: string | undefined): Record<string, string> {
  const inputs = inputsOf(definition);
  const [input, second] = inputs;
  if (delta === undefined || input === undefined || second !== undefined)
    throw new RejectedEventError(
      'DELTA_NEEDS_ONE_COLUMN',
      `board "${definition.board}" has several inputs: ${inputs.join(', ')}; send "deltas" ` +
        'with a value for each instead of "delta"',
    );
  return { [input]: delta };
}

function columnValue(fed: FedColumn, deltas: Readonly<Record<string, string>>): number | null {
  const minor = weightedSum(fed, deltas);
  const { update, min = -Infinity, max = Infinity, decimals } = fed.column;
  if (minor === null) {
    if (update === 'sum') return null;
    throw rejected(
      fed,
      'MISSING_COLUMN',
      `the value is missing; the column keeps the ${update} value, so every event needs one`,
    );
  }
  if (minor >= min && minor <= max) return sortDirection(fed.column, minor);

  const bound =
    minor < min
      ? `below min ${formatDecimal(min, decimals)}`
      : `above max ${formatDecimal(max, decimals)}`;
  throw rejected(fed, 'OUT_OF_BOUNDS', `${formatDecimal(minor, decimals)} is ${bound}`);
}

/**
 * The sum in minor units; null if the event has none of the inputs. Each product has to be in
 * range, not only the sum.
 */
function weightedSum(fed: FedColumn, deltas: Readonly<Record<string, string>>): number | null {
  let sum: bigint | number | null = null;
  for (const [input, weight] of fed.inputs) {
    const text = Object.hasOwn(deltas, input) ? deltas[input] : undefined;
    if (text === undefined) continue;
    const minor = inputValue(fed, input, text);
    const product = weight === 1 ? minor : inRange(fed, BigInt(minor) * BigInt(weight));
    sum = sum === null ? product : BigInt(sum) + BigInt(product);
  }
  return sum === null ? null : inRange(fed, sum);
}

function inRange(fed: FedColumn, minor: bigint | number): number {
  if (Number.isSafeInteger(Number(minor))) return Number(minor);
  const terms = fed.inputs.map(([input, weight]) => `${weight} x ${input}`);
  throw rejected(
    fed,
    'OUT_OF_RANGE',
    `a product or the sum of ${terms.join(', ')} is outside +-(2^53-1) minor units`,
  );
}

function inputValue(fed: FedColumn, input: string, text: string): number {
  const { name, decimals } = fed.column;
  const parsed = parseDecimal(text, decimals);
  if (parsed.ok) return parsed.minor;

  const problems = {
    NOT_A_DECIMAL: 'is not a decimal number such as 12 or -0.5',
    TOO_MANY_DECIMALS: `has more decimals than the column's ${decimals}`,
    OUT_OF_RANGE: 'is outside +-(2^53-1) minor units',
  };
  const shown = JSON.stringify(text.slice(0, 80));
  const value = input === name ? shown : `input "${input}": ${shown}`;
  const code = parsed.reason === 'NOT_A_DECIMAL' ? 'INVALID_NUMBER' : parsed.reason;
  throw rejected(fed, code, `${value} ${problems[parsed.reason]}`);
}

function rejected({ board, column }: FedColumn, code: EventRejectionCode, problem: string) {
  return new RejectedEventError(code, `column "${column.name}" of board "${board}": ${problem}`);
}
