import type { ViewSummary } from '#board-store';
import { readCode } from '../exit-codes.js';
import { viewJson } from '../../standings/view-json.js';
import { printPart, table } from '../output.js';
import { withRedis } from '../session.js';
import type { ReadOptions } from '../usage/options.js';

/** `ranklog views BOARD`. Reads and prints page by page. */
export function views(board: string, { generation, json = false }: ReadOptions): Promise<number> {
  return withRedis(async ({ reader }) => {
    let isFirst = true;
    let isStale = false;
    for await (const { views: found, stale } of reader.viewPages(board)) {
      isStale ||= stale;
      await printPart(json ? jsonItems(found, isFirst) : `${toTable(found)}\n`);
      isFirst = false;
    }
    if (json) await printPart('\n]\n');
    return readCode(isStale);
  }, generation);
}

/** The next elements of a JSON array; the caller closes the array. */
function jsonItems(summaries: readonly ViewSummary[], isFirst: boolean): string {
  return (isFirst ? '[' : ',') + JSON.stringify(summaries.map(viewJson), null, 2).slice(1, -2);
}

function toTable(summaries: readonly ViewSummary[]): string {
  return table(
    ['view', 'players', 'version', 'expires'],
    summaries
      .map(viewJson)
      .map(({ view, size, version, expiresAt }) => [view, size, version, expiresAt ?? 'never']),
  );
}
