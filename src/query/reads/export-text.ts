import { stringify } from 'csv-stringify/sync';
import type { Standings } from '#board-store';

export const EXPORT_TYPES = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
} as const;
export type ExportFormat = keyof typeof EXPORT_TYPES;

/**
 * Returns a function that formats the pages of one export, a line for each player. CSV (RFC 4180)
 * begins with a header.
 */
export function exportText(format: ExportFormat): (page: Standings) => string {
  let header: string[] | undefined;
  return ({ view, entries }) => {
    const rows = entries.map(({ rank, competitionRank, playerId, columns, reachedAt }) => {
      return { view, rank, competitionRank, playerId, columns, reachedAt };
    });
    const [first] = rows;
    if (first === undefined) return '';
    if (format === 'ndjson') return rows.map((row) => `${JSON.stringify(row)}\n`).join('');

    const isFirstPage = header === undefined;
    header ??= Object.entries(first).flatMap(([name, value]) =>
      typeof value === 'object' ? Object.keys(value).map((column) => `${name}.${column}`) : name,
    );
    return stringify(rows, { header: isFirstPage, columns: header, record_delimiter: 'windows' });
  };
}
