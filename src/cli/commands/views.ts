import type { ViewSummary } from '#board-store';
import { viewJson } from '../../standings/view-json.js';
import { readCode } from '../exit-codes.js';
import { print, table } from '../output.js';
import { withRedis } from '../session.js';
import type { ReadOptions } from '../usage/options.js';

export function views(board: string, options: ReadOptions): Promise<number> {
  return withRedis(async ({ reader }) => {
    const found: ViewSummary[] = [];
    let isStale = false;
    for await (const page of reader.viewPages(board)) {
      found.push(...page.views);
      isStale ||= page.stale;
    }
    print(found.map(viewJson), options, toTable);
    return readCode(isStale);
  }, options.generation);
}

function toTable(found: readonly ReturnType<typeof viewJson>[]): string {
  const rows = found.map(({ view, size, version, expiresAt }) => {
    return [view, size, version, expiresAt ?? 'never'];
  });
  return table(['view', 'players', 'version', 'expires'], rows);
}
