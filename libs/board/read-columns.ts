import { showValue, type Report } from './boards-file-problem.js';
import { formatDecimal, parseDecimal } from './decimal.js';
import type { Column } from './definition.js';

/** A column as the schema guarantees it. Bounds are texts, or numbers that are written as their text is. */
export interface ColumnText extends Pick<
  Column,
  'name' | 'update' | 'order' | 'decimals' | 'from'
> {
  readonly min?: string | number;
  readonly max?: string | number;
}

/** The columns with their bounds in minor units, NaN for bounds that were reported. One that is undefined was, too. */
export function readColumns(
  columns: readonly (ColumnText | undefined)[],
  report: Report,
): Column[] {
  const names = columns.map((column) => column?.name);
  return columns.flatMap((column, index) => {
    if (column === undefined) return [];
    if (names.indexOf(column.name) !== index)
      report(
        ['columns', index, 'name'],
        `"${column.name}" is there twice; a column's name is unique`,
      );
    return readColumn(column, (path, reason) => report(['columns', index, ...path], reason));
  });
}

function readColumn(
  { name, update, order, decimals, min, max, from }: ColumnText,
  report: Report,
): Column {
  if (from !== undefined && update !== 'sum')
    report(
      ['from'],
      `weights add up, so they are for update: sum, not "${update}"; leave them out`,
    );
  const bounds = {
    ...(min === undefined ? {} : { min: readBound('min', min, decimals, report) }),
    ...(max === undefined ? {} : { max: readBound('max', max, decimals, report) }),
  };
  const { min: least = -Infinity, max: most = Infinity } = bounds;
  if (least > most)
    report(
      ['min'],
      `${formatDecimal(least, decimals)} is larger than max ${formatDecimal(most, decimals)}, so no event would do; use a smaller min`,
    );
  return { name, update, order, decimals, ...bounds, ...(saysMore(from, name) ? { from } : {}) };
}

/** Whether weights say more than a column without them, which takes the delta of its own name once. */
function saysMore(from: ColumnText['from'], name: string): boolean {
  const [first, second] = Object.entries(from ?? {});
  return second !== undefined || (first !== undefined && (first[0] !== name || first[1] !== 1));
}

function readBound(
  which: 'min' | 'max',
  value: string | number,
  decimals: number,
  report: Report,
): number {
  const parsed = parseDecimal(String(value), decimals);
  if (parsed.ok) return parsed.minor;
  const refusals = {
    NOT_A_DECIMAL: "is no exact decimal; write it with digits, such as -0.5 or '12.50'",
    TOO_MANY_DECIMALS: `has more decimals than the column's ${decimals}; round it, or raise decimals`,
    OUT_OF_RANGE: 'is beyond +-(2^53-1) minor units of the column; leave it out, or lower decimals',
  };
  report([which], `${showValue(value)} ${refusals[parsed.reason]}`);
  return NaN;
}
