import { CsvError, parse } from 'csv-parse/sync';
import { inputDecimals, type BoardDefinition } from '#board';
import { quote } from '#contracts';
import { CommandError, EXIT } from '../text/exit-codes.js';
import { NOT_UTF8 } from './lines.js';

/** By name of a column: the part of an event to which its cells belong. */
export type CsvColumns = ReadonlyMap<string, 'field' | 'input' | 'attribute'>;

const PROBLEMS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quoted cell does not end on this line; a row is one line',
  INVALID_OPENING_QUOTE: 'a quote is inside a cell that does not begin with a quote',
  CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quote; a quote inside a cell is doubled',
};

const SEPARATORS: readonly (readonly [separator: string, name: string])[] = [
  [';', 'semicolons'],
  ['\t', 'tabs'],
  ['|', '"|"'],
];

/**
 * The columns that a header names; `header` is undefined if it is not UTF-8.
 * @throws CommandError that says what is wrong
 */
export function columnsOf(header: string | undefined, definition: BoardDefinition): CsvColumns {
  const known = knownColumns(definition);

  const names = header === undefined ? NOT_UTF8 : cellsOf(header);
  const problem = typeof names === 'string' ? names : headerProblem(names, [...known.keys()]);
  if (typeof names === 'string' || problem !== undefined)
    throw new CommandError(
      'the first line is neither a JSON object nor a CSV header for board ' +
        `"${definition.board}": ${problem}; possible names: ${[...known.keys()].join(', ')}`,
      EXIT.usage,
    );
  return new Map(names.map((name) => [name, known.get(name) ?? 'input']));
}

/** If an attribute has the name of an input, the column is the input. */
function knownColumns(definition: BoardDefinition): CsvColumns {
  return new Map([
    ...definition.dimensions.flat().map((name) => [name, 'attribute'] as const),
    ...[...inputDecimals(definition).keys()].map((name) => [name, 'input'] as const),
    ...(['playerId', 'occurredAt'] as const).map((name) => [name, 'field'] as const),
  ]);
}

function headerProblem(names: readonly string[], known: readonly string[]): string | undefined {
  const [only = '', second] = names;
  const separated = SEPARATORS.find(([separator]) => only.includes(separator));
  if (separated !== undefined && second === undefined)
    return `its cells are separated by ${separated[1]}; use commas`;

  const misspelt = names.flatMap((name) => {
    const meant = known.find((other) => other !== name && isAlike(other, name));
    return known.includes(name) || meant === undefined ? [] : `${quote(name)} instead of ${meant}`;
  });
  if (misspelt.length > 0) return `it has ${misspelt.join(' and ')}`;
  if (!names.includes('playerId')) return `it has no playerId, but ${quote(names.join())}`;
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) return `it has ${unknown.map(quote).join(', ')}`;
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  return repeated === undefined ? undefined : `it has ${quote(repeated)} twice`;
}

/** Whether two names differ only by case and the spaces around them. */
function isAlike(one: string, other: string): boolean {
  return one.trim().toLowerCase() === other.trim().toLowerCase();
}

/**
 * The JSON of the score event of a row, or the reason why the row can't be read. An empty cell is a
 * missing field.
 */
export function eventOf(line: string, columns: CsvColumns): { json: string } | { problem: string } {
  const cells = cellsOf(line);
  if (typeof cells === 'string') return { problem: cells };
  if (cells.length !== columns.size)
    return { problem: `the row has ${cells.length} cells, the header ${columns.size}` };
  const filled = [...columns].flatMap(([name, kind], index) => {
    const cell = cells[index] ?? '';
    return cell === '' ? [] : [{ name, kind, cell }];
  });
  const part = (wanted: string) => {
    const found = filled.filter(({ kind }) => kind === wanted);
    return Object.fromEntries(found.map(({ name, cell }) => [name, cell]));
  };
  const hasAttributes = filled.some(({ kind }) => kind === 'attribute');
  const attributes = hasAttributes ? part('attribute') : undefined;
  return { json: JSON.stringify({ ...part('field'), deltas: part('input'), attributes }) };
}

/** The cells of a line, or a text that says why it is not CSV. */
function cellsOf(line: string): string[] | string {
  try {
    return parse(line, { record_delimiter: '\n' })[0] ?? [];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return PROBLEMS[error.code] ?? `it is not CSV: ${error.message}`;
  }
}
