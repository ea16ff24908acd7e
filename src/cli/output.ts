import Table from 'cli-table3';

/** Prints a value as JSON, or whatever `text` makes of it for people. */
export function print<T>(
  value: T,
  { json = false }: { json?: boolean | undefined },
  text: (value: T) => string,
): void {
  process.stdout.write(`${json ? JSON.stringify(value, null, 2) : text(value)}\n`);
}

/** Prints a part of a long output. Resolves when it is written: the caller makes the next part only then. */
export function printPart(text: string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(text, () => resolve()); // runCommand handles an error
  });
}

/** Rows below a head, aligned: numbers to the right, no lines between. */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const numeric = head.map(
    (_, column) => rows.length > 0 && rows.every((row) => isNumber(row[column])),
  );
  const grid = new Table({
    head: [...head],
    colAligns: numeric.map((right) => (right ? 'right' : 'left')),
    chars: NO_LINES,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
  });
  grid.push(...rows.map((row) => row.map(String)));
  return grid
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

function isNumber(cell: string | number | undefined): boolean {
  return /^[-+]?\d+(\.\d+)?$/.test(String(cell));
}

const NO_LINES = Object.fromEntries(
  [
    'top',
    'top-mid',
    'top-left',
    'top-right',
    'bottom',
    'bottom-mid',
    'bottom-left',
    'bottom-right',
    'left',
    'left-mid',
    'mid',
    'mid-mid',
    'right',
    'right-mid',
    'middle',
  ].map((name) => [name, '']),
);
