import { stringify } from 'csv-stringify/sync';
import type { ExportPage } from '#board-store';

/** The media types of the formats of an export. */
export const EXPORT_TYPES = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
} as const;
export type ExportFormat = keyof typeof EXPORT_TYPES;

const PLACE = ['view', 'rank', 'competitionRank', 'playerId'] as const;
const HEAD: ReadonlySet<string> = new Set([...PLACE, 'reachedAt']);

/** Texts of several pages are joined up to this length, because views may have few players. */
const PART = 65_536;

/**
 * An export as text: a line for each player of each view. CSV is that of RFC 4180: a head, and a column for each score
 * column. Cost: about 10 us a player.
 */
export async function* exportText(
  pages: AsyncIterable<ExportPage>,
  format: ExportFormat,
): AsyncGenerator<string> {
  let text = '';
  let isFirst = true;
  for await (const page of pages) {
    if (isFirst && format === 'csv') text = csv([headOf(page)]);
    isFirst = false;
    text += format === 'csv' ? csv(rowsOf(page)) : ndjson(page);
    if (text.length < PART) continue;
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

function ndjson({ view, entries }: ExportPage): string {
  const lines = entries.map(({ rank, competitionRank, playerId, columns, reachedAt }) =>
    JSON.stringify({ view, rank, competitionRank, playerId, columns, reachedAt }),
  );
  return lines.map((line) => `${line}\n`).join('');
}

const csv = (rows: (string | number)[][]) => stringify(rows, { record_delimiter: 'windows' });

/** A score column with the name of another column is written as `score.NAME`. */
function headOf({ columns }: ExportPage): string[] {
  const names = columns.map((name) => (HEAD.has(name) ? `score.${name}` : name));
  return [...PLACE, ...names, 'reachedAt'];
}

function rowsOf({ view, columns: names, entries }: ExportPage) {
  return entries.map(({ rank, competitionRank, playerId, columns, reachedAt }) => [
    ...[view, rank, competitionRank, playerId],
    ...names.map((name) => columns[name] ?? ''),
    reachedAt,
  ]);
}
