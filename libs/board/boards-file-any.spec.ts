import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fileProblems } from '../../test/support/boards-file-problems.js';

const GOOD = {
  boards: {
    arena: {
      columns: [
        { name: 'a', update: 'best', order: 'asc', decimals: 2, min: '-1.5', max: 7 },
        { name: 'b', from: { kills: 3, deaths: -1 } },
      ],
      ties: 'latest',
      timeZone: 'Europe/Paris',
      windows: [
        'all',
        { window: 'day', keep: '1d' },
        { season: 's', from: '2026-01-01', to: '2027-01-01' },
        { interval: 'i', cron: '0 18 * * 5', start: '2026-01-01' },
      ],
      late: 'count',
      dimensions: [[], ['guild'], ['league', 'season']],
      maxViews: 5,
      maxAhead: '1h',
      notAfter: '2099-12-31',
      deduplicate: '24h',
      publish: { rankChanges: 'moved', windows: ['day', 'season:s'], dimensions: [['guild']] },
    },
    plain: { columns: [{ name: 'x' }] },
  },
};

function placesOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  const parts = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [path, ...parts.flatMap(([key, part]) => placesOf(part, [...path, key]))];
}

/** A copy of the value, with the part at a path replaced. */
function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((item: unknown, index) =>
      String(index) === key ? replaced(item, rest, by) : item,
    );
  const fields = value as Record<string, unknown>;
  return { ...fields, [key]: replaced(fields[key], rest, by) };
}

const junk = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom('all', 'day', 'UTC', '1d', '2026-01-01', 'arena', 'best', '* * * * *', 0, 1),
  fc.dictionary(
    fc.constantFrom('name', 'window', 'season', 'cron', 'x', '__proto__'),
    fc.jsonValue(),
  ),
);
const place = fc.constantFrom(...placesOf(GOOD));

const problemsOf = (content: unknown) => fileProblems(JSON.stringify(content, null, 1));

describe('a boards file with random values', () => {
  it('is read, or refused with a line and a reason per problem', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(place, junk), { minLength: 1, maxLength: 3 }), (changes) => {
        const content = changes.reduce<unknown>((value, [path, by]) => {
          const here = placesOf(value).some((known) => known.join() === path.join());
          return here ? replaced(value, path, by) : value;
        }, GOOD);
        const lines = JSON.stringify(content, null, 1).split('\n').length;
        for (const { line, reason } of problemsOf(content)) {
          expect(line).toBeGreaterThanOrEqual(1);
          expect(line).toBeLessThanOrEqual(lines);
          expect(reason).not.toBe('');
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is refused for a list that is too long, and also for each invalid entry of the list', () => {
    const content = replaced(GOOD, ['boards', 'arena', 'columns'], Array(9).fill(null));
    expect(problemsOf(content).map(({ field }) => field)).toEqual(
      expect.arrayContaining(['columns', 'columns[0]', 'columns[8]']),
    );
  });

  it('with one invalid value is refused with problems of that field only', () => {
    const fields = placesOf(GOOD).filter((path) => path[1] === 'arena' && path.length > 2);
    fc.assert(
      fc.property(fc.constantFrom(...fields), fc.constantFrom(null, [7]), (path, by) => {
        const [, , field, index] = path;
        const problems = problemsOf(replaced(GOOD, path, by));
        expect(problems).not.toEqual([]);
        for (const problem of problems) {
          expect(problem.board).toBe('arena');
          const prefix =
            ['columns', 'windows'].includes(String(field)) && index ? `[${index}]` : '';
          expect(problem.field).toEqual(expect.stringContaining(`${String(field)}${prefix}`));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is read if it is valid', () => {
    expect(problemsOf(GOOD)).toEqual([]);
  });
});
