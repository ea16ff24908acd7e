import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { readText, watchFile } from './file-changes.js';

const folder = mkdtempSync(path.join(tmpdir(), 'ranklog-file-changes-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('sees a change from before the watch, and each later one once', async () => {
  const file = path.join(folder, 'boards.yaml');
  writeFileSync(file, 'one');
  const known = await readText(file);
  writeFileSync(file, 'two');

  const seen: (string | undefined)[] = [];
  const ended = new AbortController();
  const onChange = async () => {
    seen.push(await readText(file));
    if (seen.length === 1) writeFileSync(file, 'three');
    else ended.abort();
  };
  const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(4_000)]);
  await watchFile(file, known, onChange, signal);
  expect(seen).toEqual(['two', 'three']);
});
