import { open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { ExpiredViewError, ExportPage } from '#board-store';
import { exportText, type ExportFormat } from '../../standings/export-text.js';
import { CommandError, EXIT, readCode } from '../exit-codes.js';
import { describe } from '../failures.js';
import { ProgressBar } from '../progress.js';
import { withRedis } from '../session.js';
import type { ReadOptions } from '../usage/options.js';
import { countText } from '../value-text.js';

export interface ExportOptions extends Pick<ReadOptions, 'window' | 'where' | 'at' | 'generation'> {
  readonly format: ExportFormat;
  readonly view?: readonly string[];
  readonly output?: string;
}

/** `ranklog export BOARD`. */
export function exportBoard(board: string, options: ExportOptions): Promise<number> {
  const { format, view: views, window, where, at, output, generation } = options;
  return withRedis(async ({ reader }) => {
    const progress = new ExportProgress(output !== undefined || !process.stdout.isTTY);
    const onExpired = (error: ExpiredViewError) => progress.warn(`left out: ${error.message}`);
    const pages = reader.export(board, { views, window, where, at, onExpired });
    const text = exportText(progress.of(pages), format);
    await (output === undefined ? print(text) : writeFile(output, text));
    if (progress.players === 0) progress.warn('nobody is ranked in these views');
    return readCode(progress.isStale);
  }, generation);
}

/** Counts the players of an export. Shows the progress, unless the players are printed on the same terminal. */
class ExportProgress {
  players = 0;
  isStale = false;
  #bar: ProgressBar | undefined;

  constructor(private readonly isShown: boolean) {}

  async *of(pages: AsyncIterable<ExportPage>): AsyncGenerator<ExportPage> {
    let views = 0;
    let last = '';
    try {
      for await (const page of pages) {
        const { view, entries, total, stale } = page;
        this.isStale ||= stale;
        this.players += entries.length;
        if (view !== last) views += 1;
        last = view;
        if (this.isShown) this.#bar ??= new ProgressBar('players', Math.max(1, total));
        this.#bar?.update(this.players, { total, note: `, views: ${countText(views)}` });
        yield page;
      }
    } finally {
      this.#bar?.stop();
    }
  }

  warn(text: string): void {
    const line = `ranklog: ${text}`;
    if (this.#bar === undefined) process.stderr.write(`${line}\n`);
    else this.#bar.writeLine(line);
  }
}

/** Writes text to standard output, until its reader is gone. */
async function print(text: AsyncIterable<string>): Promise<void> {
  let isGone = false as boolean;
  process.stdout.once('error', () => (isGone = true)); // run-command.ts handles it
  try {
    await pipeline(text, process.stdout, { end: false });
  } catch (error) {
    if (!isGone) throw error;
  }
}

/** Writes a file under another name, and renames it when it is complete. @throws CommandError if it can't be created */
async function writeFile(name: string, text: AsyncIterable<string>): Promise<void> {
  const part = `${name}.part`;
  const file = await open(part, 'w').catch((error: unknown) => {
    const problem = `can't write ${part} (${describe(error)}); name a file in a folder that exists`;
    throw new CommandError(problem, EXIT.usage);
  });
  try {
    await pipeline(text, file.createWriteStream());
    await rename(part, name);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}
