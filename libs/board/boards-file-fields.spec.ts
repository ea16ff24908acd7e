import { describe, expect, it } from '@jest/globals';
import { BoardsFileError, parseBoardsFile } from './boards-file.js';
import { problemText } from './boards-file-problem.js';

function problemsOf(text: string): readonly string[] {
  try {
    parseBoardsFile(text, 'b.yaml');
    return [];
  } catch (error) {
    if (error instanceof BoardsFileError) return error.problems.map(problemText);
    throw error;
  }
}

const file = (column: string, fields = '') =>
  `boards: {arena: {columns: [{name: x, ${column}}]${fields}}}`;
const columnOf = (column: string) => parseBoardsFile(file(column), 'b.yaml')[0]?.columns[0];

describe('bounds and weights', () => {
  it.each([
    ["min: '-1.50', max: 2", -150, 200],
    ['min: -1.50, max: 2.25', -150, 225],
    ["min: '-0', max: 90071992547409.91", 0, 9_007_199_254_740_991],
    ["min: -90071992547409.91, max: '0.1'", -9_007_199_254_740_991, 10],
    ['min: 0, max: 0', 0, 0],
  ])('are exact, in quotes and without: %s', (fields, min, max) => {
    expect(columnOf(`decimals: 2, ${fields}`)).toMatchObject({ min, max });
  });

  it('are read digit by digit where a float could not hold them', () => {
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

  it('may be the weights of inputs', () => {
    const from = '{a: 1, b: -5, __proto__: 999999999999999}';
    expect(Object.entries(columnOf(`from: ${from}`)?.from ?? {})).toEqual([
      ['a', 1],
      ['b', -5],
      ['__proto__', 999_999_999_999_999],
    ]);
  });

  const DECIMAL = "is no exact decimal; write it with digits, such as -0.5 or '12.50'";
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
    ['max: 9007199254740992', 'columns[0].max: 9007199254740992 is beyond +-(2^53-1) minor units of the column; leave it out, or lower decimals'],
    ['max: 9007199254740993', 'columns[0].max: "9007199254740993" is beyond +-(2^53-1) minor units of the column; leave it out, or lower decimals'],
    ['decimals: 2, min: 5, max: 4.99', 'columns[0].min: 5.00 is larger than max 4.99, so no event would do; use a smaller min'],
    ['update: best, from: {a: 1}', 'columns[0].from: weights add up, so they are for update: sum, not "best"; leave them out'],
    ['update: latest, from: {a: 1}', 'columns[0].from: weights add up, so they are for update: sum, not "latest"; leave them out'],
    ['from: {}', 'columns[0].from: {} is not allowed; use 1 to 64 names, each with its weight, such as {clicks: 1, shares: 5}'],
    ['from: [a]', 'columns[0].from: ["a"] is not allowed; use 1 to 64 names, each with its weight, such as {clicks: 1, shares: 5}'],
    ['from: {a: 0}', `columns[0].from.a: 0 is not allowed; ${WEIGHT}`],
    ['from: {a: 1.5}', `columns[0].from.a: 1.5 is not allowed; ${WEIGHT}`],
    ['from: {a: "1"}', `columns[0].from.a: "1" is not allowed; ${WEIGHT}`],
    ['from: {a: 1000000000000000}', `columns[0].from.a: 1000000000000000 is not allowed; ${WEIGHT}`],
    ['from: {"a b": 1}', 'columns[0].from: "a b" is not allowed; use a letter or _, then up to 63 letters, digits, _ . or -'],
  ])('are refused: %s', (column, ...problems) => {
    expect(problemsOf(file(column))).toEqual(
      problems.map((problem) => `b.yaml:1: board "arena", ${problem}`),
    );
  });
});

describe('the other fields of a board', () => {
  const NO_FIELD =
    'is no field here; allowed: rankChanges, ranks, windows, dimensions, overtook, leaders';
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
    ['deduplicate: 0h', 'deduplicate: "0h" drops nothing; leave it out, or use a duration such as 24h'],
    ['dedupe: 1h', 'dedupe'],
    ['publish: all', 'publish: "all" is not allowed; use fields such as {rankChanges: moved, leaders: 10}'],
    ['publish: {leader: 3}', `publish: "leader" ${NO_FIELD}; did you mean leaders?`],
    ['publish: {rankChanges: move}', 'publish.rankChanges: "move" is not allowed; use every, moved, none; did you mean moved?'],
    ['publish: {ranks: [competition]}', 'publish.ranks: ["competition"] is not allowed; use [ordinal] or [ordinal, competition]'],
    ['publish: {ranks: [ordinal, competitive]}', 'publish.ranks: ["ordinal","competitive"] is not allowed; use [ordinal] or [ordinal, competition]'],
    ['publish: {ranks: competition}', 'publish.ranks: "competition" is not allowed; use [ordinal] or [ordinal, competition]'],
    ['publish: {ranks: ordinal}', 'publish.ranks: "ordinal" is not allowed; use [ordinal] or [ordinal, competition]'],
    ['publish: {overtook: 101}', `publish.overtook: 101 ${COUNT}`],
    ['publish: {leaders: -1}', `publish.leaders: -1 ${COUNT}`],
    ['publish: {windows: []}', 'publish.windows: [] is not allowed; use a list of windows of the board, such as [all, week]'],
    ['windows: [all, week], publish: {windows: [all, weak]}', "publish.windows[1]: weak is not one of the board's: all, week; did you mean week?"],
    ['windows: [{season: a, from: 2026-01-01, to: 2026-01-02}], publish: {windows: [a]}', "publish.windows[0]: a is not one of the board's: season:a; did you mean season:a?"],
    ['windows: [week], publish: {windows: [week, week]}', 'publish.windows: ["week","week"] holds one entry twice'],
    ['dimensions: [[league, country, season]], publish: {dimensions: [[season, league, country]]}', "publish.dimensions[0]: [season, league, country] is not one of the board's: [league, country, season]; did you mean [league, country, season]?"],
    ['dimensions: [[a, b], [c], [b, a]]', 'dimensions[2]: [b, a] gives the rankings of [a, b] again; leave it out'],
    ['publish: {dimensions: [[region]]}', "publish.dimensions[0]: [region] is not one of the board's: []"],
    ['dimensions: [[], [league, season]], publish: {dimensions: [[league, saison]]}', "publish.dimensions[0]: [league, saison] is not one of the board's: [], [league, season]; did you mean [league, season]?"],
  ])('are refused: %s', (fields, ...problems) => {
    const found = problemsOf(file('update: sum', `, ${fields}`));
    expect(found).toEqual(
      problems.map((problem) =>
        problem === 'dedupe'
          ? expect.stringContaining('"dedupe" is no field here')
          : `b.yaml:1: board "arena", ${problem}`,
      ),
    );
  });

  it('are all told at once, in the order of their lines, those of other boards too', () => {
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
      'b.yaml:5: board "one", columns[0].min: 3 is larger than max 2, so no event would do; use a smaller min',
      'b.yaml:7: board "one", timeZone: "Nowhere" is no time zone; use an IANA name such as Europe/Paris',
      'b.yaml:8: board "one", windows[1]: day is there twice; a window\'s name is unique in its board',
      'b.yaml:10: board "two", columns[0].update: "most" is not allowed; use sum, best, latest; did you mean best?',
      'b.yaml:13: board "three", publish.windows[0]: day is not one of the board\'s: all',
    ]);
  });

  it('are all told at once where the schema refuses parts of one board, each in its own line', () => {
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
      'b.yaml:3: board "arena": "colour" is no field here',
      'b.yaml:6: board "arena", columns[0].order: "up" is not allowed',
      'b.yaml:8: board "arena", columns[1].min: 3 is larger than max 2, so no event would do',
      'b.yaml:10: board "arena", timeZone: "Nowhere" is no time zone',
      'b.yaml:11: board "arena", dimensions: "region" is not allowed',
      'b.yaml:13: board "arena", windows[0]: "weak" is not allowed',
      'b.yaml:14: board "arena", windows[1].to: "x" is no time in the years 0001 to 9999',
      'b.yaml:19: board "arena", maxAhead: "soon" is not allowed',
      'b.yaml:20: board "arena", deduplicate: "0s" drops nothing',
    ]);
  });

  it.each([
    ['no columns', '{timeZone: Nowhere}', ['"columns" is missing', 'timeZone']],
    ['columns by name', '{columns: {a: 1}, timeZone: Nowhere}', ['columns', 'timeZone']],
    ['no fields', '[1]', ['[1] is not allowed']],
    ['bad numbers only', '{columns: [7], maxViews: 0}', ['columns[0]', 'maxViews']],
  ])('are told of a board with %s', (_what, board, problems) => {
    expect(problemsOf(`boards: {a: ${board}}`)).toEqual(
      problems.map((problem) => expect.stringContaining(problem)),
    );
  });

  it('are told of a board with a bad name, and of what an alias brings where it stands', () => {
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

describe('weights', () => {
  it('that say what a column does without them are left out', () => {
    expect(columnOf('from: {x: 1}')).toEqual(columnOf('update: sum'));
    expect(columnOf('from: {x: 2}')).toMatchObject({ from: { x: 2 } });
    expect(columnOf('from: {y: 1}')).toMatchObject({ from: { y: 1 } });
    expect(columnOf('from: {x: 1, y: 1}')).toMatchObject({ from: { x: 1, y: 1 } });
  });
});
