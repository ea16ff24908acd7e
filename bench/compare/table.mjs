// @ts-check

/**
 * A whole number with separators; one digit after the point below 10, `-` for NaN. @param {number}
 * value
 */
export function count(value) {
  if (Number.isNaN(value)) return '-';
  return Math.abs(value) < 10 && !Number.isInteger(value)
    ? value.toFixed(1)
    : Math.round(value).toLocaleString('en');
}

/**
 * Rows of cells in columns: the first and the last column begin on the left, others end on the
 * right. @param {string[][]} rows
 */
export function table(rows) {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          if (column === 0) return cell.padEnd(width);
          return column === widths.length - 1 ? `  ${cell}` : cell.padStart(width + 2);
        })
        .join('')
        .trimEnd(),
    )
    .join('\n');
}
