import { boardsFileSchema, BoardsFileError, problemText } from '#board';
import { readBoardsFile } from '../../reconciliation/boards/read-boards-file.js';
import { EXIT } from '../text/exit-codes.js';
import type { JsonOption } from '../text/options.js';
import { print } from '../text/output.js';

export async function boardsCheck(files: string[], options: JsonOption): Promise<number> {
  const named = files.length > 0 ? files : [await defaultFile()];
  const reports = await Promise.all(named.map(checkFile));
  print(reports, options, () => reports.map(toText).join('\n'));
  return reports.every(({ problems }) => problems.length === 0) ? EXIT.ok : EXIT.no;
}

/** Loads the settings only here, because that takes longer than to check a file. */
async function defaultFile(): Promise<string> {
  const { loadSettings } = await import('../../config/settings.js');
  return loadSettings().settings.boards;
}

async function checkFile(file: string) {
  try {
    const definitions = await readBoardsFile(file);
    return { file, boards: definitions.map(({ board }) => board), problems: [] };
  } catch (error) {
    if (error instanceof BoardsFileError) return { file, boards: [], problems: error.problems };
    throw error;
  }
}

function toText({ file, boards, problems }: Awaited<ReturnType<typeof checkFile>>): string {
  return problems.length > 0
    ? problems.map(problemText).join('\n')
    : `${file}: no problems; boards: ${boards.join(', ')}`;
}

export function boardsSchema(): Promise<number> {
  print(boardsFileSchema(), { json: true }, () => '');
  return Promise.resolve(EXIT.ok);
}
