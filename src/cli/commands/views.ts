import { viewJson } from '../../query/reads/view-json.js';
import { openRedis } from '../sessions/session.js';
import { readCode } from '../text/exit-codes.js';
import type { ReadOptions } from '../text/options.js';
import { printPart, table } from '../text/output.js';

/** `ranklog views BOARD`. Reads and prints page by page: a board may have a million views. */
export async function views(
  board: string,
  { generation, json = false }: ReadOptions,
): Promise<number> {
  using redis = await openRedis(generation);
  let isStale = false;
  let separator = '['; // of the elements of a JSON array
  for await (const page of redis.stores.reader.viewPages(board)) {
    const found = page.views.map(viewJson);
    isStale ||= page.stale;
    const items = () => separator + JSON.stringify(found, null, 2).slice(1, -2);
    await printPart(json ? items() : `${toTable(found)}\n`);
    separator = ',';
  }
  if (json) await printPart('\n]\n');
  return readCode(isStale);
}

function toTable(found: readonly ReturnType<typeof viewJson>[]): string {
  const rows = found.map(({ view, size, version, expiresAt }) => {
    return [view, size, version, expiresAt ?? 'never'];
  });
  return table(['view', 'players', 'version', 'expires'], rows);
}
