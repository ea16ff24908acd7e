import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { EventRejectionCode } from '#board';
import { DEAD_LETTER_CODES, type DeadLetterCode } from './dead-letter-codes.js';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

const ROW = /^\| `(?<code>[A-Z_0-9]+)` +\| (?<text>.*?) +\|$/gm;

describe('the codes of dead letters', () => {
  it('are those in docs/reference/dead-letters.md, with the same texts', () => {
    const rows = [...read('docs/reference/dead-letters.md').matchAll(ROW)].map(({ groups }) => [
      groups?.['code'],
      groups?.['text'],
    ]);
    expect(rows).toEqual(Object.entries(DEAD_LETTER_CODES));
  });

  it('have a sentence about the problem, then what to do', () => {
    for (const text of Object.values(DEAD_LETTER_CODES)) expect(text).toMatch(/^[^.]+\. .+\.$/s);
  });

  it('include all codes of the apply script', () => {
    const folder = 'libs/board-store/lua/includes/';
    const scripts = readdirSync(new URL(folder, root)).map((name) => read(folder + name));
    const codes = scripts.flatMap((script) =>
      [...script.matchAll(/write_dead_letter\(\w+, '([A-Z_]+)'/g)].map(([, code]) => code),
    );
    expect(codes).toContain('SUM_OUT_OF_RANGE');
    for (const code of codes) expect(Object.keys(DEAD_LETTER_CODES)).toContain(code);
  });

  it('include all codes of rejections by a board', () => {
    // The test is that this compiles.
    const listed = (code: EventRejectionCode): DeadLetterCode => code;
    expect(DEAD_LETTER_CODES).toHaveProperty(listed('TOO_FAR_AHEAD'));
  });
});
