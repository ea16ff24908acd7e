// To add a field of the boards file: add it to schemas/boards.schema.json, with a description,
// which editors show. Rules that a schema can't express go here or into read-windows.ts. Describe
// it in docs/reference/boards-file.md.

import { isDeepStrictEqual } from 'node:util';
import ms from 'ms';
import { showValue, type Report } from './boards-file-problem.js';
import { formatDecimal, parseDecimal } from './decimal.js';
import { windowName, type BoardDefinition, type Column, type Publish } from './definition.js';
import { readTime, readTimeZone, readWindows, type WindowText } from './read-windows.js';
import { suggestion } from './suggestion.js';

type PlainFields = 'ties' | 'timeZone' | 'late' | 'dimensions' | 'maxViews' | 'publish';

/** A board that the schema has checked, with defaults. Entries that it refused are undefined. */
export interface BoardText extends Pick<BoardDefinition, PlainFields> {
  readonly columns: readonly (ColumnText | undefined)[];
  readonly windows: readonly (WindowText | undefined)[];
  readonly maxAhead: ms.StringValue;
  readonly notAfter?: string;
  readonly deduplicate?: ms.StringValue;
}

type ColumnText = Omit<Column, 'min' | 'max'> & {
  readonly min?: string | number;
  readonly max?: string | number;
};

/** Translates the fields of a board. The definition is only valid if nothing was reported. */
export function readBoard(board: string, text: BoardText, report: Report): BoardDefinition {
  const { ties, late, dimensions, maxViews, notAfter, deduplicate } = text;
  const timeZone = readTimeZone(text.timeZone, report);
  const windows = readWindows(text.windows, timeZone, report);
  reportRepeatedDimensions(dimensions, report);
  if (deduplicate !== undefined && ms(deduplicate) === 0)
    report(
      ['deduplicate'],
      `"${deduplicate}" would drop nothing; remove the field or use a duration such as 24h`,
    );
  const columns = readColumns(text.columns, report);
  const latest =
    notAfter === undefined ? undefined : readTime('notAfter', notAfter, timeZone, report);
  const windowNames = windows.map(windowName);
  reportUnknownParts(text.publish, windowNames, dimensions, report);
  return {
    board,
    columns,
    ties,
    timeZone,
    windows,
    late,
    dimensions,
    maxViews,
    maxAheadMs: ms(text.maxAhead),
    ...(latest !== undefined && { notAfter: latest }),
    ...(deduplicate !== undefined && { deduplicateMs: ms(deduplicate) }),
    publish: readPublish(text.publish, windowNames, dimensions),
  };
}

function readColumns(columns: BoardText['columns'], report: Report): Column[] {
  const names = columns.map((column) => column?.name);
  return columns.flatMap((column, index) => {
    if (column === undefined) return [];
    if (names.indexOf(column.name) !== index)
      report(
        ['columns', index, 'name'],
        `duplicate column "${column.name}"; give each column a name of its own`,
      );
    return readColumn(column, (path, reason) => report(['columns', index, ...path], reason));
  });
}

function readColumn(column: ColumnText, report: Report): Column {
  const { name, update, order, decimals, from } = column;
  if (from !== undefined && update !== 'sum')
    report(
      ['from'],
      `weights need update: sum, but the column has update: ${update}; remove from, or use ` +
        'update: sum',
    );
  const bounds = { ...readBound('min', column, report), ...readBound('max', column, report) };
  const { min = -Infinity, max = Infinity } = bounds;
  if (min > max)
    report(
      ['min'],
      `${formatDecimal(min, decimals)} is larger than max ${formatDecimal(max, decimals)}; use ` +
        'a smaller min',
    );
  // `{NAME: 1}` changes nothing: a column NAME without weights also adds the delta NAME once.
  const weights = isDeepStrictEqual(from, { [name]: 1 }) ? undefined : from;
  return { name, update, order, decimals, ...bounds, ...(weights && { from: weights }) };
}

/** A bound in minor units. Reports an invalid one, and returns NaN for it. */
function readBound(
  which: 'min' | 'max',
  { decimals, [which]: value }: ColumnText,
  report: Report,
): Pick<Column, 'min' | 'max'> {
  if (value === undefined) return {};
  const parsed = parseDecimal(String(value), decimals);
  if (parsed.ok) return { [which]: parsed.minor };
  const problems = {
    NOT_A_DECIMAL: "is not an exact decimal; write all digits, such as -0.5 or '12.50'",
    TOO_MANY_DECIMALS: `has more decimals than the column's ${decimals}; round it, or raise decimals`,
    OUT_OF_RANGE:
      'is outside +-(2^53-1) minor units of the column; remove it, or use fewer decimals',
  };
  report([which], `${showValue(value)} ${problems[parsed.reason]}`);
  return { [which]: NaN };
}

/** Reports a dimension with the names of an earlier one in another order: they rank the same. */
function reportRepeatedDimensions(dimensions: BoardDefinition['dimensions'], report: Report): void {
  for (const [index, names] of dimensions.entries()) {
    const first = dimensions.find((other) => sortedText(other) === sortedText(names)) ?? names;
    if (listText(first) !== listText(names))
      report(
        ['dimensions', index],
        `${listText(names)} gives the same rankings as ${listText(first)}; remove one of the two`,
      );
  }
}

/** Reports windows and dimensions of `publish` that the board does not have. */
function reportUnknownParts(
  { windows, dimensions }: Publish,
  windowNames: readonly string[],
  boardDimensions: BoardDefinition['dimensions'],
  report: Report,
): void {
  for (const [index, window] of windows?.entries() ?? [])
    if (!windowNames.includes(window))
      report(
        ['publish', 'windows', index],
        `the board has no window "${window}"; add it to windows, or use one of these: ` +
          `${windowNames.join(', ')}${suggestion(window, windowNames)}`,
      );

  const known = boardDimensions.map(listText);
  for (const [index, names] of dimensions?.entries() ?? [])
    if (!known.includes(listText(names)))
      report(
        ['publish', 'dimensions', index],
        `the board has no dimension ${listText(names)}; add it to dimensions, or use one of ` +
          `these: ${known.join(', ')}${nearDimension(names, boardDimensions)}`,
      );
}

/**
 * Leaves out a list that names all windows or all dimensions, and puts any other list into the
 * order of the board, so that equal settings have equal texts.
 */
function readPublish(
  { windows, dimensions, ...rest }: Publish,
  windowNames: readonly string[],
  boardDimensions: BoardDefinition['dimensions'],
): Publish {
  const publishedWindows = windowNames.filter((window) => windows?.includes(window) ?? true);
  const texts = dimensions?.map(listText);
  const publishedDimensions = boardDimensions.filter(
    (names) => texts?.includes(listText(names)) ?? true,
  );
  return {
    ...rest,
    ...(publishedWindows.length < windowNames.length && { windows: publishedWindows }),
    ...(publishedDimensions.length < boardDimensions.length && { dimensions: publishedDimensions }),
  };
}

/** Suggests a dimension with the same names first, as their order matters in the names of views. */
function nearDimension(names: readonly string[], dimensions: BoardDefinition['dimensions']) {
  const meant = dimensions.find((dimension) => sortedText(dimension) === sortedText(names));
  return meant === undefined
    ? suggestion(listText(names), dimensions.map(listText))
    : `; did you mean ${listText(meant)}?`;
}

function sortedText(names: readonly string[]): string {
  return listText([...names].sort());
}

function listText(names: readonly string[]): string {
  return names.length === 0 ? '[] (the overall ranking)' : `[${names.join(', ')}]`;
}
