import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseBoardsFile } from './boards-file.js';
import {
  LATE,
  ORDERS,
  RANK_CHANGES,
  RANKS,
  TIES,
  UPDATES,
  type BoardDefinition,
  type Publish,
} from './definition.js';
import { definitionHash, definitionText, parseDefinitionText } from './definition-text.js';
import { arena } from './spec-support/arena.js';

const football: BoardDefinition = {
  ...arena,
  board: 'football',
  columns: [
    { name: 'points', update: 'sum', order: 'desc', decimals: 0 },
    { name: 'seconds', update: 'best', order: 'asc', decimals: 3 },
  ],
  dimensions: [[], ['league', 'season']],
  maxAheadMs: 3_600_000,
};

const everything: BoardDefinition = {
  ...football,
  columns: [
    {
      name: 'fame',
      update: 'sum',
      order: 'desc',
      decimals: 2,
      min: -100,
      max: 0,
      from: { shares: 5, clicks: -1 },
    },
  ],
  timeZone: 'Europe/Paris',
  windows: [
    { kind: 'all' },
    { kind: 'week' },
    { kind: 'day', keepMs: 0 },
    { kind: 'season', name: 'spring', from: 0, to: 1, keepMs: 2 },
    { kind: 'interval', name: 'contest', cron: '0 18 * * 5', start: 3, keepMs: 4 },
  ],
  late: 'count',
  maxViews: 7,
  deduplicateMs: 86_400_000,
  publish: {
    rankChanges: 'moved',
    ranks: RANKS,
    windows: ['all', 'season:spring'],
    dimensions: [[]],
    overtook: 3,
    leaders: 10,
  },
};

describe('the text of a definition', () => {
  it('is the documented one, in which no field is at its default but the oldest', () => {
    expect(definitionText(football)).toBe(
      '{"board":"football","columns":[{"name":"points","update":"sum","order":"desc","decimals":0},' +
        '{"name":"seconds","update":"best","order":"asc","decimals":3}],"ties":"earliest","windows":["all"],' +
        '"dimensions":[[],["league","season"]],"maxAheadMs":3600000}',
    );
    expect(definitionHash(football)).toBe('88215c111055');
  });

  it('is the documented one with every field', () => {
    expect(definitionText(everything)).toBe(
      '{"board":"football","columns":[{"name":"fame","update":"sum","order":"desc","decimals":2,"min":-100,"max":0,' +
        '"from":{"clicks":-1,"shares":5}}],"ties":"earliest","windows":["all","week",{"kind":"day","keepMs":0},' +
        '{"kind":"season","name":"spring","from":0,"to":1,"keepMs":2},' +
        '{"kind":"interval","name":"contest","cron":"0 18 * * 5","start":3,"keepMs":4}],' +
        '"dimensions":[[],["league","season"]],"maxAheadMs":3600000,"timeZone":"Europe/Paris","late":"count",' +
        '"maxViews":7,"deduplicateMs":86400000,"publish":{"rankChanges":"moved","ranks":["ordinal","competition"],"overtook":3,"leaders":10,' +
        '"windows":["all","season:spring"],"dimensions":[[]]}}',
    );
  });

  it('is the same whichever way the definition was written', () => {
    const short = `boards: {football: {columns: [{name: points}, {decimals: 3, order: asc, update: best, name: seconds}],
      dimensions: [[], [league, season]]}}`;
    const long = `boards: {football: {maxAhead: 60m, dimensions: [[], [league, season]], windows: [all], ties: earliest,
      timeZone: UTC, late: deadLetter, maxViews: 10000,
      publish: {leaders: 0, overtook: 0, windows: [all], dimensions: [[league, season], []], rankChanges: every},
      columns: [{name: points, decimals: 0, order: desc, update: sum}, {name: seconds, update: best, order: asc, decimals: 3}]}}`;
    const texts = [short, long].flatMap((text) => parseBoardsFile(text, 'x').map(definitionText));
    expect(texts).toEqual([definitionText(football), definitionText(football)]);
  });

  it.each([
    ['windows in the long form', 'windows: [{window: day}]', 'windows: [day]'],
    [
      'times that are one instant',
      'timeZone: Europe/Paris, windows: [{season: a, from: 2026-03-29T02:30, to: 2027-01-01}]',
      "timeZone: Europe/Paris, windows: [{to: '2026-12-31T23:00:00Z', from: '2026-03-29T03:30:00.0001+02:00', season: a}]",
    ],
    [
      'spaces in a cron expression',
      "windows: [{interval: a, cron: ' 0  18 * * 5 ', start: 2026-01-01}]",
      "windows: [{interval: a, cron: '0 18 * * 5', start: 2026-01-01}]",
    ],
    ['durations', 'deduplicate: 1d', 'deduplicate: 24 h'],
    [
      'the order of what is published',
      'windows: [all, day, week], publish: {windows: [week, all]}',
      'windows: [all, day, week], publish: {windows: [all, week]}',
    ],
    ['the rank that is the default', 'publish: {ranks: [ordinal]}', 'publish: {}'],
  ])('is the same for %s', (_what, one, other) => {
    const [a, b] = [one, other].flatMap((fields) =>
      parseBoardsFile(`boards: {a: {columns: [{name: x}], ${fields}}}`, 'x').map(definitionText),
    );
    expect(a).toBe(b);
  });

  it('is the same for bounds and weights that are', () => {
    const [a, b] = [
      '{name: x, decimals: 2, min: -1.5, max: 10, from: {b: 2, a: 1}}',
      "{name: x, decimals: 2, min: '-1.50', max: '10.0', from: {a: 1, b: 2}}",
    ].flatMap((column) =>
      parseBoardsFile(`boards: {a: {columns: [${column}]}}`, 'x').map(definitionText),
    );
    expect(a).toBe(b);
  });

  it.each<[what: string, changed: Partial<BoardDefinition>]>([
    ['name', { board: 'Football' }],
    ['columns', { columns: football.columns.slice(0, 1) }],
    ['order of columns', { columns: [...football.columns].reverse() }],
    ['ties', { ties: 'latest' }],
    ['time zone', { timeZone: 'Europe/Paris' }],
    ['windows', { windows: [{ kind: 'week' }] }],
    ['keep', { windows: [{ kind: 'week', keepMs: 0 }] }],
    ['late', { late: 'count' }],
    ['dimensions', { dimensions: [[], ['season', 'league']] }],
    ['maxViews', { maxViews: 1 }],
    ['maxAhead', { maxAheadMs: 0 }],
    ['notAfter', { notAfter: 1 }],
    ['deduplicate', { deduplicateMs: 1 }],
    ['publish', { publish: { ...football.publish, leaders: 1 } }],
    ['ranks', { publish: { ...football.publish, ranks: RANKS } }],
  ])('has another hash with another %s', (_what, changed) => {
    expect(definitionHash({ ...football, ...changed })).not.toBe(definitionHash(football));
  });
});

const name = fc.constantFrom('a', 'b', 'constructor', '__proto__', 'é');
const whole = fc.maxSafeInteger();
const span = fc.nat();

const column = fc.record(
  {
    name,
    update: fc.constantFrom(...UPDATES),
    order: fc.constantFrom(...ORDERS),
    decimals: fc.integer({ min: 0, max: 15 }),
    min: whole,
    max: whole,
    from: fc
      .uniqueArray(fc.tuple(name, whole), { selector: ([key]) => key })
      .map(Object.fromEntries),
  },
  { requiredKeys: ['name', 'update', 'order', 'decimals'] },
);

const window = fc.oneof(
  fc.record({ kind: fc.constant('all' as const) }),
  fc.record(
    { kind: fc.constantFrom('day', 'week', 'month', 'year'), keepMs: span },
    { requiredKeys: ['kind'] },
  ),
  fc.record(
    { kind: fc.constant('season' as const), name, from: whole, to: whole, keepMs: span },
    { requiredKeys: ['kind', 'name', 'from', 'to'] },
  ),
  fc.record(
    { kind: fc.constant('interval' as const), name, cron: fc.string(), start: whole, keepMs: span },
    { requiredKeys: ['kind', 'name', 'cron', 'start'] },
  ),
);

const definition: fc.Arbitrary<BoardDefinition> = fc.record(
  {
    board: name,
    columns: fc.array(column, { maxLength: 3 }),
    ties: fc.constantFrom(...TIES),
    timeZone: fc.constantFrom('UTC', 'Europe/Paris'),
    windows: fc.array(window, { maxLength: 4 }),
    late: fc.constantFrom(...LATE),
    dimensions: fc.array(fc.array(name, { maxLength: 2 }), { maxLength: 3 }),
    maxViews: fc.constantFrom(1, 10_000),
    maxAheadMs: span,
    notAfter: span,
    deduplicateMs: span,
    publish: fc.record(
      {
        rankChanges: fc.constantFrom(...RANK_CHANGES),
        ranks: fc.constantFrom<Publish['ranks'][]>(['ordinal'], RANKS),
        windows: fc.array(name),
        dimensions: fc.array(fc.array(name)),
        overtook: fc.nat({ max: 2 }),
        leaders: fc.nat({ max: 2 }),
      },
      { requiredKeys: ['rankChanges', 'ranks', 'overtook', 'leaders'] },
    ),
  },
  {
    requiredKeys: [
      ...(['board', 'columns', 'ties', 'timeZone', 'windows', 'late'] as const),
      ...(['dimensions', 'maxViews', 'maxAheadMs', 'publish'] as const),
    ],
  },
);

/** The same data with the fields of every object in another order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, field]) => [key, reversed(field)]));
}

describe('any definition', () => {
  it('reads back as it was', () => {
    fc.assert(
      fc.property(definition, (any) => {
        expect(parseDefinitionText(definitionText(any))).toEqual(any);
      }),
    );
  });

  it('has one text, also when it was read back and in whatever order its fields came', () => {
    fc.assert(
      fc.property(definition, (any) => {
        const text = definitionText(any);
        expect(definitionText(parseDefinitionText(text))).toBe(text);
        expect(definitionText(reversed(any) as BoardDefinition)).toBe(text);
      }),
    );
  });
});
