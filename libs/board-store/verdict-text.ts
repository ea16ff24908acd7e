import { decimalColumns, type Column } from '#board';
import type { Placing, Verdict, ViewChange } from './types.js';

/** Reads a verdict as lua/verdict.lua writes it: the offset, a newline, then what became of the record. */
export function parseVerdict(text: string): Verdict {
  const [offset = '', kind = '', first = '', second = '', ...lines] = text.split('\n');
  if (kind === 'deadLetter')
    return {
      kind,
      offset: Number(offset),
      code: first,
      detail: [second, ...lines].join('\n'),
    };
  const columns = parseColumns(second);
  return {
    kind: 'rankChange',
    offset: Number(offset),
    generation: first,
    changes: lines.map((line) => parseChange(line, columns)),
  };
}

/** What the reader of a verdict has to know of the columns. */
export type VerdictColumns = readonly Pick<Column, 'name' | 'order' | 'decimals'>[];

/** Written into every verdict, so that it can be read after the definition is gone. */
export function columnsText(columns: VerdictColumns): string {
  return JSON.stringify(columns.map(({ name, order, decimals }) => ({ name, order, decimals })));
}

/** Columns by their text: all verdicts of a generation carry the same one, and there are few generations. */
const parsedColumns = new Map<string, readonly Column[]>();
const MOST_PARSED_COLUMNS = 1_000;

function parseColumns(text: string): readonly Column[] {
  let columns = parsedColumns.get(text);
  if (columns === undefined) {
    if (parsedColumns.size >= MOST_PARSED_COLUMNS) parsedColumns.clear();
    columns = JSON.parse(text) as Column[];
    parsedColumns.set(text, columns);
  }
  return columns;
}

function parseChange(line: string, columns: readonly Column[]): ViewChange {
  const [view = '', version = '', before = '', after = ''] = line.split('\t');
  return {
    view,
    version: Number(version),
    before: before === '-' ? null : parsePlacing(before, columns),
    after: parsePlacing(after, columns),
  };
}

function parsePlacing(text: string, columns: readonly Column[]): Placing {
  const [rank = 0, competitionRank = 0, ...values] = text.split(' ').map(Number);
  return { rank, competitionRank, columns: decimalColumns({ columns }, values) };
}
