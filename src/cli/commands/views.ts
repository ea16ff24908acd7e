import type { ViewSummary } from '#board-store';
import { EXIT } from '../exit-codes.js';
import { expiryText } from '../expiry-text.js';
import { print, table } from '../output.js';
import { withRedis } from '../session.js';
import { tellStale } from './standings.js';

export interface ViewsOptions {
  readonly generation?: string;
  readonly json?: boolean;
}

/** `ranklog views BOARD`: the rankings of a board. */
export function views(board: string, options: ViewsOptions): Promise<number> {
  return withRedis(async ({ reader }) => {
    const found = await reader.views(board);
    if (await reader.isStale(board)) tellStale();
    print(found.map(toJson), options, () => toTable(found));
    return EXIT.ok;
  }, options.generation);
}

function toJson({ view, size, version, expiresAt }: ViewSummary) {
  return { view, size, version, expiresAt: expiryText(expiresAt) };
}

function toTable(summaries: readonly ViewSummary[]): string {
  return table(
    ['view', 'players', 'version', 'expires'],
    summaries.map((view) => [
      view.view,
      view.size,
      view.version,
      toJson(view).expiresAt ?? 'never',
    ]),
  );
}
