import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ListingInterruptedError } from '#board-store';
import { PROBLEMS, ProblemError } from '#problems';
import { inTime } from './problems.js';

describe('the problems', () => {
  it('match the table in docs/reference/http.md', () => {
    const text = readFileSync('docs/reference/http.md', 'utf8');
    const rows = [...text.matchAll(/^\| (\d{3}) +\| `(\w+)`/gm)];
    const documented = rows.map(([, status, code]) => [code, Number(status)]);
    const expected = Object.entries(PROBLEMS).map(([code, [status]]) => [code, status]);
    expect(documented).toEqual(expected);
  });
});

describe('work with Kafka that fails', () => {
  it.each([
    [
      new Error('no broker'),
      new ProblemError('LOG_UNAVAILABLE', 'Kafka does not answer (no broker); try again'),
    ],
    [new ListingInterruptedError('arena'), new ListingInterruptedError('arena')],
  ])('with %p is the problem %p', async (error, problem) => {
    await expect(inTime(Promise.reject(error))).rejects.toThrow(problem);
  });
});
