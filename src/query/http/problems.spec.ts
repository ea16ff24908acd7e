import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { PROBLEMS } from '../dto/problem-codes.js';

describe('the problems', () => {
  it('match the table in docs/reference/http.md', () => {
    const text = readFileSync('docs/reference/http.md', 'utf8');
    const rows = [...text.matchAll(/^\| (\d{3}) +\| `(\w+)`/gm)];
    const documented = rows.map(([, status, code]) => [code, Number(status)]);
    const expected = Object.entries(PROBLEMS).map(([code, [status]]) => [code, status]);
    expect(documented).toEqual(expected);
  });
});
