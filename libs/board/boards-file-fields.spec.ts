import { describe, expect, it } from '@jest/globals';
import { problemsOf } from '../../test/support/boards-file-problems.js';
import { parseBoardsFile } from './boards-file.js';

const file = (column: string, fields = '') =>
  `boards: {arena: {columns: [{name: x, ${column}}]${fields}}}`;
const columnOf = (column: string) => parseBoardsFile(file(column), 'b.yaml')[0]?.columns[0];

describe('the bounds and weights of a column', () => {
  it.each([
    ["min: '-1.50', max: 2", -150, 200],
    ['min: -1.50, max: 2.25', -150, 225],
    ["min: '-0', max: 90071992547409.91", 0, 9_007_199_254_740_991],
    ["min: -90071992547409.91, max: '0.1'", -9_007_199_254_740_991, 10],
    ['min: 0, max: 0', 0, 0],
  ])('are exact, quoted or not: %s', (fields, min, max) => {
    expect(columnOf(`decimals: 2, ${fields}`)).toMatchObject({ min, max });
  });

  it('are exact where a double is not', () => {
    expect(columnOf('min: 9007199254740990, max: 9007199254740991')).toMatchObject({
      min: 9_007_199_254_740_990,
      max: 9_007_199_254_740_991,
    });
    expect(columnOf('decimals: 15, min: 0.000000000000001, max: 0.3')).toMatchObject({
      min: 1,
      max: 300_000_000_000_000,
    });
    const tooLong = 'decimals: 15, max: 0.30000000000000001';
    expect(problemsOf(file(tooLong))).toEqual([
      'b.yaml:1: board "arena", columns[0].max: "0.30000000000000001" has more decimals than the column\'s 15; round it, or raise decimals',
    ]);
  });

  it('keep the order of the inputs, and an input named __proto__', () => {
    const from = '{a: 1, b: -5, __proto__: 999999999999999}';
    expect(Object.entries(columnOf(`from: ${from}`)?.from ?? {})).toEqual([
      ['a', 1],
      ['b', -5],
      ['__proto__', 999_999_999_999_999],
    ]);
  });

  const DECIMAL = "is not an exact decimal; write all digits, such as -0.5 or '12.50'";
  const WEIGHT = 'use a whole number of up to 15 digits, not 0';
  // prettier-ignore
  it.each<[column: string, ...problems: string[]]>([
    ['max: 1e3', `columns[0].max: "1e3" ${DECIMAL}`],
    ['max: 1e21', `columns[0].max: "1e21" ${DECIMAL}`],
    ['max: +5', `columns[0].max: "+5" ${DECIMAL}`],
    ['max: 0x10', `columns[0].max: "0x10" ${DECIMAL}`],
    ['max: .inf', `columns[0].max: ".inf" ${DECIMAL}`],
    ['max: much', `columns[0].max: "much" ${DECIMAL}`],
    ['max: true', "columns[0].max: true is not allowed; use a decimal such as -0.5 or '12.50', without an exponent"],
    ['decimals: 1, min: 0.25', 'columns[0].min: 0.25 has more decimals than the column\'s 1; round it, or raise decimals'],
    ['max: 9007199254740992', 'columns[0].max: 9007199254740992 is outside +-(2^53-1) minor units of the column; remove it, or use fewer decimals'],
    ['max: 9007199254740993', 'columns[0].max: "9007199254740993" is outside +-(2^53-1) minor units of the column; remove it, or use fewer decimals'],
    ['decimals: 2, min: 5, max: 4.99', 'columns[0].min: 5.00 is larger than max 4.99; use a smaller min'],
    ['update: best, from: {a: 1}', 'columns[0].from: weights need update: sum, but the column has update: best; remove from, or use update: sum'],
    ['update: latest, from: {a: 1}', 'columns[0].from: weights need update: sum, but the column has update: latest; remove from, or use update: sum'],
    ['from: {}', 'columns[0].from: {} is not allowed; use 1 to 64 names, each with its weight, such as {clicks: 1, shares: 5}'],
    ['from: [a]', 'columns[0].from: ["a"] is not allowed; use 1 to 64 names, each with its weight, such as {clicks: 1, shares: 5}'],
    ['from: {a: 0}', `columns[0].from.a: 0 is not allowed; ${WEIGHT}`],
    ['from: {a: 1.5}', `columns[0].from.a: 1.5 is not allowed; ${WEIGHT}`],
    ['from: {a: "1"}', `columns[0].from.a: "1" is not allowed; ${WEIGHT}`],
    ['from: {a: 1000000000000000}', `columns[0].from.a: 1000000000000000 is not allowed; ${WEIGHT}`],
    ['from: {"a b": 1}', 'columns[0].from: "a b" is not allowed; use a letter or _, then up to 63 letters, digits, _ . or -'],
  ])('are refused in {%s}', (column, ...problems) => {
    expect(problemsOf(file(column))).toEqual(
      problems.map((problem) => `b.yaml:1: board "arena", ${problem}`),
    );
  });
});

describe('the fields of a board', () => {
  const NO_FIELD =
    'unknown field "leader"; use one of rankChanges, ranks, windows, dimensions, overtook, leaders';
  const COUNT = 'is not allowed; use a whole number from 0 to 100';
  // prettier-ignore
  it.each<[fields: string, ...problems: string[]]>([
    ['late: deadletter', 'late: "deadletter" is not allowed; use deadLetter, count; did you mean deadLetter?'],
    ['late: dead', 'late: "dead" is not allowed; use deadLetter, count; did you mean deadLetter?'],
    ['late: counted', 'late: "counted" is not allowed; use deadLetter, count; did you mean count?'],
    ['late: ""', 'late: "" is not allowed; use deadLetter, count'],
    ['maxViews: 0', 'maxViews: 0 is not allowed; use a whole number from 1 to 1000000'],
    ['maxViews: 1000001', 'maxViews: 1000001 is not allowed; use a whole number from 1 to 1000000'],
    ['maxViews: 1e3', 'maxViews: "1e3" is not allowed; use a whole number from 1 to 1000000'],
    ['deduplicate: 24', 'deduplicate: 24 is not allowed; use a duration such as 30s, 10m, 1h, 7d or 4w'],
    ['deduplicate: 0h', 'deduplicate: "0h" would drop nothing; remove the field or use a duration such as 24h'],
    ['dedupe: 1h', 'dedupe'],
    ['publish: all', 'publish: "all" is not allowed; use fields such as {rankChanges: moved, leaders: 10}'],
    ['publish: {leader: 3}', `publish: ${NO_FIELD}; did you mean leaders?`],
    ['publish: {rankChanges: move}', 'publish.rankChanges: "move" is not allowed; use every, moved, none; did you mean moved?'],
    ['publish: {ranks: [competition]}', 'publish.ranks: ["competition"] is not allowed; use [ordinal] or [ordinal, competition]'],
    ['publish: {ranks: [ordinal, competitive]}', 'publish.ranks: ["ordinal","competitive"] is not allowed; use [ordinal] or [ordinal, competition]'],
    ['publish: {ranks: competition}', 'publish.ranks: "competition" is not allowed; use [ordinal] or [ordinal, competition]'],
    ['publish: {ranks: ordinal}', 'publish.ranks: "ordinal" is not allowed; use [ordinal] or [ordinal, competition]'],
    ['publish: {overtook: 101}', `publish.overtook: 101 ${COUNT}`],
    ['publish: {leaders: -1}', `publish.leaders: -1 ${COUNT}`],
    ['publish: {windows: []}', 'publish.windows: [] is not allowed; use a list of windows of the board, such as [all, week]'],
    ['windows: [all, week], publish: {windows: [all, weak]}', 'publish.windows[1]: the board has no window "weak"; add it to windows, or use one of these: all, week; did you mean week?'],
    ['windows: [{season: a, from: 2026-01-01, to: 2026-01-02}], publish: {windows: [a]}', 'publish.windows[0]: the board has no window "a"; add it to windows, or use one of these: season:a; did you mean season:a?'],
    ['windows: [week], publish: {windows: [week, week]}', 'publish.windows: ["week","week"] has a duplicate entry; remove one of the two'],
    ['dimensions: [[league, country, season]], publish: {dimensions: [[season, league, country]]}', "publish.dimensions[0]: the board has no dimension [season, league, country]; add it to dimensions, or use one of these: [league, country, season]; did you mean [league, country, season]?"],
    ['dimensions: [[a, b], [c], [b, a]]', 'dimensions[2]: [b, a] gives the same rankings as [a, b]; remove one of the two'],
    ['publish: {dimensions: [[region]]}', "publish.dimensions[0]: the board has no dimension [region]; add it to dimensions, or use one of these: [] (the overall ranking)"],
    ['dimensions: [[], [league, season]], publish: {dimensions: [[league, saison]]}', "publish.dimensions[0]: the board has no dimension [league, saison]; add it to dimensions, or use one of these: [] (the overall ranking), [league, season]; did you mean [league, season]?"],
  ])('are refused in {%s}', (fields, ...problems) => {
    const found = problemsOf(file('update: sum', `, ${fields}`));
    expect(found).toEqual(
      problems.map((problem) =>
        problem === 'dedupe'
          ? expect.stringContaining('unknown field "dedupe"')
          : `b.yaml:1: board "arena", ${problem}`,
      ),
    );
  });

  it('are checked in all boards, and the problems are listed in the order of their lines', () => {
    const text = `boards:
  one:
    columns:
      - name: x
        min: 3
        max: 2
    timeZone: Nowhere
    windows: [day, day]
  two:
    columns: [{ name: x, update: most }]
  three:
    columns: [{ name: x }]
    publish: { windows: [day] }
`;
    expect(problemsOf(text)).toEqual([
      'b.yaml:5: board "one", columns[0].min: 3 is larger than max 2; use a smaller min',
      'b.yaml:7: board "one", timeZone: "Nowhere" is not a time zone; use an IANA name such as Europe/Paris',
      'b.yaml:8: board "one", windows[1]: duplicate window day; use each window once',
      'b.yaml:10: board "two", columns[0].update: "most" is not allowed; use sum, best, latest; did you mean best?',
      'b.yaml:13: board "three", publish.windows[0]: the board has no window "day"; add it to windows, or use one of these: all',
    ]);
  });

  it('have their problems reported together, whether the schema or another rule refuses the fields', () => {
    const text = `boards:
  arena:
    colour:
      red
    columns:
      - { name: x, order: up }
      - name: y
        min: 3
        max: 2
    timeZone: Nowhere
    dimensions: region
    windows:
      - weak
      - { season: s, from: 2026-01-01, to: x }
    publish:
      windows: [week]
      dimensions: [[region]]
      leaders: 3
    maxAhead: soon
    deduplicate: 0s
`;
    expect(problemsOf(text).map((problem) => problem.replace(/;.*/, ''))).toEqual([
      'b.yaml:3: board "arena": unknown field "colour"',
      'b.yaml:6: board "arena", columns[0].order: "up" is not allowed',
      'b.yaml:8: board "arena", columns[1].min: 3 is larger than max 2',
      'b.yaml:10: board "arena", timeZone: "Nowhere" is not a time zone',
      'b.yaml:11: board "arena", dimensions: "region" is not allowed',
      'b.yaml:13: board "arena", windows[0]: "weak" is not allowed',
      'b.yaml:14: board "arena", windows[1].to: "x" is not a time in the years 0001 to 9999',
      'b.yaml:19: board "arena", maxAhead: "soon" is not allowed',
      'b.yaml:20: board "arena", deduplicate: "0s" would drop nothing',
    ]);
  });

  it.each([
    ['no columns', '{timeZone: Nowhere}', ['the field "columns" is missing', 'timeZone']],
    ['columns as an object', '{columns: {a: 1}, timeZone: Nowhere}', ['columns', 'timeZone']],
    ['a list in place of fields', '[1]', ['[1] is not allowed']],
    ['an invalid column and number', '{columns: [7], maxViews: 0}', ['columns[0]', 'maxViews']],
  ])('are all checked in a board with %s', (_what, board, problems) => {
    expect(problemsOf(`boards: {a: ${board}}`)).toEqual(
      problems.map((problem) => expect.stringContaining(problem)),
    );
  });

  it('are checked in a board with an invalid name, and in columns from a YAML alias, reported at the line of its anchor', () => {
    const text = `boards:
  "a b":
    columns: &columns
      - name: x
        order: up
  c:
    columns: *columns
    timeZone: Nowhere
`;
    expect(problemsOf(text).map((problem) => problem.slice(0, 40))).toEqual([
      'b.yaml:2: boards: "a b" is not allowed; ',
      'b.yaml:5: board "a b", columns[0].order:',
      'b.yaml:5: board "c", columns[0].order: "',
      'b.yaml:8: board "c", timeZone: "Nowhere"',
    ]);
  });
});

describe('the weights of a column', () => {
  it('are left out if they are only {NAME: 1}, which has no effect', () => {
    expect(columnOf('from: {x: 1}')).toEqual(columnOf('update: sum'));
    expect(columnOf('from: {x: 2}')).toMatchObject({ from: { x: 2 } });
    expect(columnOf('from: {y: 1}')).toMatchObject({ from: { y: 1 } });
    expect(columnOf('from: {x: 1, y: 1}')).toMatchObject({ from: { x: 1, y: 1 } });
  });
});
