import type { Count } from './count.js';

/** A row of a table: a way to rank, and what came of it. */
export interface Row {
  readonly name: string;
  readonly count: Count;
  /** The largest score up to which it tells a tick of its clock apart. */
  readonly holdsTo?: number;
}

/** A board and the ways it was ranked in, as Markdown in the form that prettier gives it. */
export function table(title: string, rows: readonly Row[]): string {
  const limits = rows.some(({ holdsTo }) => holdsTo !== undefined);
  const header = ['ranked by', 'in the wrong place', 'pairs in the wrong order', 'wrong scores'];
  const lines = rows.map(({ name, count: { misplaced, pairs, scores }, holdsTo }) => [
    name,
    ...[misplaced, pairs, scores].map(grouped),
    ...(limits ? [holdsTo === undefined ? '' : grouped(holdsTo)] : []),
  ]);
  const cells = [[...header, ...(limits ? ['exact up to'] : [])], ...lines];
  return [`### ${title}`, '', ...aligned(cells)].join('\n');
}

export function grouped(value: number): string {
  return value.toLocaleString('en-US');
}

/** The first column to the left, the others to the right. */
function aligned(cells: readonly (readonly string[])[]): string[] {
  const widths = (cells[0] ?? []).map((_, index) =>
    Math.max(...cells.map((line) => line[index]?.length ?? 0)),
  );
  const written = cells.map((line) =>
    widths.map((width, index) =>
      index === 0 ? (line[index] ?? '').padEnd(width) : (line[index] ?? '').padStart(width),
    ),
  );
  const rule = widths.map((width, index) =>
    index === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  const [header = [], ...others] = written;
  return [header, rule, ...others].map((line) => `| ${line.join(' | ')} |`);
}
