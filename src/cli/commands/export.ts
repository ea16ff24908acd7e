import { exportText, type ExportFormat } from '../../query/reads/export-text.js';
import { withRedis } from '../sessions/session.js';
import { readCode } from '../text/exit-codes.js';
import { printPart } from '../text/output.js';
import { ProgressBar } from '../text/progress-bar.js';

export interface ExportOptions {
  readonly format: ExportFormat;
  readonly view?: readonly string[];
  readonly generation?: string;
}

/** `ranklog export BOARD`. Shows the progress, unless the players are printed on the same terminal. */
export function exportBoard(board: string, options: ExportOptions): Promise<number> {
  const { format, view: views, generation } = options;
  return withRedis(async ({ stores: { reader } }) => {
    const toText = exportText(format);
    const bar = process.stdout.isTTY ? undefined : new ProgressBar('players', 0);
    let players = 0;
    let isStale = false;
    try {
      for await (const page of reader.export(board, views)) {
        await printPart(toText(page));
        players += page.entries.length;
        isStale ||= page.stale;
        bar?.update(players, { note: `, view "${page.view}"` });
      }
    } finally {
      bar?.stop();
    }
    if (players === 0) process.stderr.write('ranklog: nobody is ranked in these views\n');
    return readCode(isStale);
  }, generation);
}
