import type { BoardReader } from '#board-store';
import { exportText, type ExportFormat } from '../../query/reads/export-text.js';
import { openRedis } from '../sessions/session.js';
import { readCode } from '../text/exit-codes.js';
import { printPart } from '../text/output.js';
import { ProgressBar } from '../text/progress-bar.js';

interface ExportOptions {
  readonly format: ExportFormat;
  readonly view?: readonly string[];
  readonly generation?: string;
}

/**
 * `ranklog export BOARD`. Shows the progress, unless the players are printed on the same terminal.
 */
export async function exportBoard(board: string, options: ExportOptions): Promise<number> {
  using redis = await openRedis(options.generation);
  const { players, isStale } = await printPlayers(redis.stores.reader, board, options);
  if (players === 0) process.stderr.write('ranklog: nobody is ranked in these views\n');
  return readCode(isStale);
}

async function printPlayers(
  reader: BoardReader,
  board: string,
  { format, view: views }: ExportOptions,
): Promise<{ players: number; isStale: boolean }> {
  const toText = exportText(format);
  using bar = process.stdout.isTTY ? undefined : new ProgressBar('players', 0);
  let players = 0;
  let isStale = false;
  for await (const page of reader.export(board, views)) {
    await printPart(toText(page));
    players += page.entries.length;
    isStale ||= page.stale;
    bar?.update(players, { note: `, view "${page.view}"` });
  }
  return { players, isStale };
}
