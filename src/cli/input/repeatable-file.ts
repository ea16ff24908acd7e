import { createReadStream, statSync } from 'node:fs';
import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * Opens a file that can be read twice: the given one, or a temporary copy of standard input (-) or
 * of a pipe. The copy has no name any more, so it disappears with the process, however that ends.
 */
export async function openRepeatable(file: string): Promise<FileHandle> {
  if (file !== '-' && statSync(file).isFile()) return open(file);
  const folder = await mkdtemp(path.join(tmpdir(), 'ranklog-import-'));
  const copy = await open(path.join(folder, 'rows'), 'wx+');
  await rm(folder, { recursive: true });
  const source = file === '-' ? process.stdin : createReadStream(file);
  for await (const chunk of source as AsyncIterable<Buffer>) await copy.appendFile(chunk);
  return copy;
}
