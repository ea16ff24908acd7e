import { describe, expect, it } from '@jest/globals';
import { problemsOf } from '../../test/support/boards-file-problems.js';
import { parseBoardsFile } from './boards-file.js';

/** A file with one board `arena`, whose definition is the given flow text. */
const arena = (definition: string) => `boards: {arena: ${definition}}`;
const column = (fields: string) => arena(`{columns: [{name: points, ${fields}}]}`);
const field = (text: string) => arena(`{columns: [{name: points}], ${text}}`);

describe('a valid boards file', () => {
  it('gets all defaults', () => {
    expect(parseBoardsFile(arena('{columns: [{name: points}]}'), 'b.yaml')).toEqual([
      {
        board: 'arena',
        columns: [{ name: 'points', update: 'sum', order: 'desc', decimals: 0 }],
        ties: 'earliest',
        timeZone: 'UTC',
        windows: [{ kind: 'all' }],
        late: 'deadLetter',
        dimensions: [[]],
        maxViews: 10_000,
        maxAheadMs: 3_600_000,
        publish: { rankChanges: 'every', ranks: ['ordinal'], overtook: 0, leaders: 0 },
      },
    ]);
  });

  it('keeps all values, and the order of columns, windows and dimensions', () => {
    const text = `
# Comments, quotes and anchors are plain YAML.
boards:
  race-2026:
    columns:
      - { name: seconds, update: best, order: asc, decimals: 3 }
      - { name: laps, update: latest, order: desc, decimals: 0 }
    ties: none
    timeZone: America/New_York
    windows: [year, all, { window: day, keep: 2w }]
    late: count
    dimensions: &by [[], [league, season], [season]]
    maxViews: 5
    maxAhead: 90 s
    notAfter: 2099-12-31
    deduplicate: 1d
    publish: { rankChanges: moved, ranks: [ordinal, competition], windows: [day, all], dimensions: [[]], overtook: 3, leaders: 10 }
  "42":
    columns: [{ name: __proto__, decimals: 15 }]
    ties: latest
    dimensions: *by
    maxAhead: 0s
`;
    expect(parseBoardsFile(text, 'b.yaml')).toEqual(
      expect.arrayContaining([
        {
          board: 'race-2026',
          columns: [
            { name: 'seconds', update: 'best', order: 'asc', decimals: 3 },
            { name: 'laps', update: 'latest', order: 'desc', decimals: 0 },
          ],
          ties: 'none',
          timeZone: 'America/New_York',
          windows: [{ kind: 'year' }, { kind: 'all' }, { kind: 'day', keepMs: 1_209_600_000 }],
          late: 'count',
          dimensions: [[], ['league', 'season'], ['season']],
          maxViews: 5,
          maxAheadMs: 90_000,
          notAfter: Date.parse('2099-12-31T05:00:00Z'),
          deduplicateMs: 86_400_000,
          publish: {
            rankChanges: 'moved',
            ranks: ['ordinal', 'competition'],
            windows: ['all', 'day'],
            dimensions: [[]],
            overtook: 3,
            leaders: 10,
          },
        },
        {
          board: '42',
          columns: [{ name: '__proto__', update: 'sum', order: 'desc', decimals: 15 }],
          ties: 'latest',
          timeZone: 'UTC',
          windows: [{ kind: 'all' }],
          late: 'deadLetter',
          dimensions: [[], ['league', 'season'], ['season']],
          maxViews: 10_000,
          maxAheadMs: 0,
          publish: { rankChanges: 'every', ranks: ['ordinal'], overtook: 0, leaders: 0 },
        },
      ]),
    );
  });

  it('can have 8 columns and 8 attribute names', () => {
    const names = Array.from({ length: 8 }, (_, index) => `n${index}`);
    const columns = names.map((name) => `{name: ${name}}`).join();
    const [board] = parseBoardsFile(
      arena(`{columns: [${columns}], dimensions: [[${names.join()}]]}`),
      'b.yaml',
    );
    expect(board?.columns.map(({ name }) => name)).toEqual(names);
    expect(board?.dimensions).toEqual([names]);
  });
});

describe('an invalid boards file is refused with the field, the value and what to do:', () => {
  const NAME = 'a letter or _, then up to 63 letters, digits, _ . or -';
  const BOARD_NAME = 'a letter or digit, then up to 127 letters, digits, _ . or -';
  const nine = Array.from({ length: 9 }, (_, index) => `{name: c${index}}`).join();

  // prettier-ignore
  it.each<[about: string, text: string, ...problems: string[]]>([
    ['an empty file', '', 'an empty value is not allowed; use the field boards'],
    ['a text', 'arena', '"arena" is not allowed; use the field boards'],
    ['a list', '[1]', '[1] is not allowed; use the field boards'],
    [
      'an unknown field of the file',
      'board: 1',
      'the field "boards" is missing; add it',
      'unknown field "board"; use one of boards; did you mean boards?',
    ],
    ['empty boards', 'boards:', 'boards: an empty value is not allowed; use at least one board by its name'],
    ['no board', 'boards: {}', 'boards: {} is not allowed; use at least one board by its name'],
    ['a board name with a space', 'boards: {"a b": {columns: [{name: x}]}}', `boards: "a b" is not allowed; use ${BOARD_NAME}`],
    ['a board name with a dash in front', 'boards: {-a: {columns: [{name: x}]}}', `boards: "-a" is not allowed; use ${BOARD_NAME}`],
    ['an empty board name', 'boards: {"": {columns: [{name: x}]}}', `boards: "" is not allowed; use ${BOARD_NAME}`],
    ['an empty board', arena(''), 'board "arena": an empty value is not allowed; use fields of a board, such as {columns: [{name: points}]}'],
    ['a board without columns', arena('{}'), 'board "arena": the field "columns" is missing; add it'],
    ['an unknown field of a board', field('colour: red'), 'board "arena": unknown field "colour"; use one of columns, ties, timeZone, windows, late, dimensions, maxViews, maxAhead, notAfter, deduplicate, publish'],
    ['no column', arena('{columns: []}'), 'board "arena", columns: [] is not allowed; use a list of 1 to 8 columns'],
    ['nine columns', arena(`{columns: [${nine}]}`), 'board "arena", columns: 9 entries are too many; use a list of 1 to 8 columns'],
    ['columns by name', arena('{columns: {points: sum}}'), 'board "arena", columns: {"points":"sum"} is not allowed; use a list of 1 to 8 columns'],
    ['a column as text', arena('{columns: [points]}'), 'board "arena", columns[0]: "points" is not allowed; use fields of a column, such as {name: points}'],
    ['a column without a name', arena('{columns: [{update: sum}]}'), 'board "arena", columns[0]: the field "name" is missing; add it'],
    ['an unknown field of a column', column('ordre: asc'), 'board "arena", columns[0]: unknown field "ordre"; use one of name, update, order, decimals, min, max, from; did you mean order?'],
    ['two columns with the same name', arena('{columns: [{name: x}, {name: y}, {name: x}]}'), 'board "arena", columns[2].name: duplicate column "x"; give each column a name of its own'],
    ['a column name that is a number', arena('{columns: [{name: 1}]}'), `board "arena", columns[0].name: 1 is not allowed; use ${NAME}`],
    ['a column name with a space', arena('{columns: [{name: a b}]}'), `board "arena", columns[0].name: "a b" is not allowed; use ${NAME}`],
    ['a long column name', arena(`{columns: [{name: ${'x'.repeat(65)}}]}`), `board "arena", columns[0].name: "${'x'.repeat(65)}" is not allowed; use ${NAME}`],
    ['an unknown update', column('update: max'), 'board "arena", columns[0].update: "max" is not allowed; use sum, best, latest'],
    ['an unknown order', column('order: down'), 'board "arena", columns[0].order: "down" is not allowed; use desc, asc'],
    ['an empty order', column('order:'), 'board "arena", columns[0].order: an empty value is not allowed; use desc, asc'],
    ['16 decimals', column('decimals: 16'), 'board "arena", columns[0].decimals: 16 is not allowed; use a whole number from 0 to 15'],
    ['negative decimals', column('decimals: -1'), 'board "arena", columns[0].decimals: -1 is not allowed; use a whole number from 0 to 15'],
    ['half a decimal', column('decimals: 0.5'), 'board "arena", columns[0].decimals: 0.5 is not allowed; use a whole number from 0 to 15'],
    ['decimals as text', column('decimals: "2"'), 'board "arena", columns[0].decimals: "2" is not allowed; use a whole number from 0 to 15'],
    ['NaN decimals', column('decimals: .nan'), 'board "arena", columns[0].decimals: ".nan" is not allowed; use a whole number from 0 to 15'],
    ['unknown ties', field('ties: first'), 'board "arena", ties: "first" is not allowed; use earliest, latest, none'],
    ['an unknown window', field('windows: [all, eon]'), 'board "arena", windows[1]: "eon" is not allowed; use all, day, week, month or year; or {season: NAME, from: TIME, to: TIME}, {interval: NAME, cron: EXPRESSION, start: TIME}'],
    ['a window twice', field('windows: [all, all]'), 'board "arena", windows[1]: duplicate window all; use each window once'],
    ['no window', field('windows: []'), 'board "arena", windows: [] is not allowed; use a list of windows, such as [all, week]'],
    ['a window as text', field('windows: all'), 'board "arena", windows: "all" is not allowed; use a list of windows, such as [all, week]'],
    ['no dimensions', field('dimensions: []'), 'board "arena", dimensions: [] is not allowed; use a list of 1 to 32 lists of attribute names, such as [[], [league, season]]'],
    ['a dimension as text', field('dimensions: [[], region]'), 'board "arena", dimensions[1]: "region" is not allowed; use a list of up to 8 attribute names, such as [league, season]'],
    ['a dimension twice', field('dimensions: [[a], [a]]'), 'board "arena", dimensions: [["a"],["a"]] has a duplicate entry; remove one of the two'],
    ['an attribute twice', field('dimensions: [[a, a]]'), 'board "arena", dimensions[0]: ["a","a"] has a duplicate entry; remove one of the two'],
    ['a bad attribute name', field('dimensions: [["a=b"]]'), `board "arena", dimensions[0][0]: "a=b" is not allowed; use ${NAME}`],
    ['a duration without a unit', field('maxAhead: 5'), 'board "arena", maxAhead: 5 is not allowed; use a duration such as 30s, 10m, 1h, 7d or 4w'],
    ['words for a time', field('notAfter: soon'), 'board "arena", notAfter: "soon" is not a time in the years 0001 to 9999; use a time such as 2026-03-01, 2026-03-01T18:00 or 2026-03-01T18:00:00Z'],
    ['a duration in words', field('maxAhead: soon'), 'board "arena", maxAhead: "soon" is not allowed; use a duration such as 30s, 10m, 1h, 7d or 4w'],
  ])('%s', (_about, text, ...problems) => {
    expect(problemsOf(text)).toEqual(problems.map((problem) => `b.yaml:1: ${problem}`));
  });

  it('reports all problems at once, and cuts long values', () => {
    const text = `boards:
  a: {columns: [{name: x, decimals: 99, order: [${'1, '.repeat(60)}]}], colour: red}
  b: 7
`;
    expect(problemsOf(text)).toEqual([
      'b.yaml:2: board "a": unknown field "colour"; use one of columns, ties, timeZone, windows, late, dimensions, maxViews, maxAhead, notAfter, deduplicate, publish',
      `b.yaml:2: board "a", columns[0].order: [${'1,'.repeat(38)}... is not allowed; use desc, asc`,
      'b.yaml:2: board "a", columns[0].decimals: 99 is not allowed; use a whole number from 0 to 15',
      'b.yaml:3: board "b": 7 is not allowed; use fields of a board, such as {columns: [{name: points}]}',
    ]);
  });
});

describe('invalid YAML is refused with its line:', () => {
  // prettier-ignore
  it.each<[about: string, text: string, problem: string]>([
    ['an unclosed bracket', 'boards:\n  a: {columns: [{name: x}]\n', 'b.yaml:3: not valid YAML: Flow map in block collection must be sufficiently indented and end with a }'],
    ['a tab', 'boards:\n\ta: 1', 'b.yaml:2: not valid YAML: Tabs are not allowed as indentation'],
    ['a second document', 'boards: {}\n---\nboards: {}', 'b.yaml:2: a second YAML document starts here; use one document per file'],
    ['an alias without anchor', 'boards: *all', 'b.yaml:1: not valid YAML: Unresolved alias (the anchor must be set before the alias): all'],
    ['an alias inside of what it names', 'boards: &all\n  a: *all', 'b.yaml:2: an alias is part of the value that it names; write the value instead'],
    ['two boards with the same name', 'boards:\n  a: {columns: [{name: x}]}\n  a: {columns: [{name: y}]}', 'b.yaml:3: duplicate key "a"; rename or remove one of the two'],
    ['two boards with the same quoted name', 'boards:\n  "a b": 1\n  "a b": 2', 'b.yaml:3: duplicate key "a b"; rename or remove one of the two'],
    ['a number and a text as the same name', 'boards:\n  7: 1\n  \'7\': 2', "b.yaml:3: duplicate key '7'; rename or remove one of the two"],
    ['a field twice', 'boards:\n  a:\n    ties: none\n    ties: latest', 'b.yaml:4: duplicate key "ties"; rename or remove one of the two'],
  ])('%s', (_about, text, problem) => {
    expect(problemsOf(text)).toEqual([problem]);
  });

  it('too many aliases', () => {
    const line = (name: string, of: string) =>
      `${name}: &${name} [${Array.from({ length: 20 }, () => of).join()}]\n`;
    const text = line('a', '1') + line('b', '*a') + line('c', '*b') + line('d', '*c');
    expect(problemsOf(text)).toEqual([
      'b.yaml:4: not valid YAML: Excessive alias count indicates a resource exhaustion attack',
    ]);
  });
});
