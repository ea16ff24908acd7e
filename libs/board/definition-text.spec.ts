import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import fc, { type GeneratorValue } from 'fast-check';
import { stringify } from 'yaml';
import { arena } from '../../test/support/arena.js';
import { parseBoardsFile } from './boards-file.js';
import {
  CALENDAR_WINDOWS,
  LATE,
  ORDERS,
  RANK_CHANGES,
  RANKS,
  TIES,
  UPDATES,
  windowName,
  type BoardDefinition,
  type Column,
  type Publish,
  type Window,
} from './definition.js';
import {
  boardFields,
  definitionHash,
  definitionText,
  parseDefinitionText,
} from './definition-text.js';

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
    { kind: 'month', close: { from: 5, graceMs: 6, reviewMs: 'manual', results: 7 } },
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
  it('has no fields at their defaults, except the oldest fields', () => {
    expect(definitionText(football)).toBe(
      '{"board":"football","columns":[{"name":"points","update":"sum","order":"desc","decimals":0},' +
        '{"name":"seconds","update":"best","order":"asc","decimals":3}],"ties":"earliest","windows":["all"],' +
        '"dimensions":[[],["league","season"]],"maxAheadMs":3600000}',
    );
    expect(definitionHash(football)).toBe('88215c111055');
  });

  it('has fields that are not at their defaults in a fixed order', () => {
    expect(definitionText(everything)).toBe(
      '{"board":"football","columns":[{"name":"fame","update":"sum","order":"desc","decimals":2,"min":-100,"max":0,' +
        '"from":{"clicks":-1,"shares":5}}],"ties":"earliest","windows":["all","week",{"kind":"day","keepMs":0},' +
        '{"kind":"month","close":{"from":5,"graceMs":6,"reviewMs":"manual","results":7}},' +
        '{"kind":"season","name":"spring","from":0,"to":1,"keepMs":2},' +
        '{"kind":"interval","name":"contest","cron":"0 18 * * 5","start":3,"keepMs":4}],' +
        '"dimensions":[[],["league","season"]],"maxAheadMs":3600000,"timeZone":"Europe/Paris","late":"count",' +
        '"maxViews":7,"deduplicateMs":86400000,"publish":{"rankChanges":"moved","ranks":["ordinal","competition"],"overtook":3,"leaders":10,' +
        '"windows":["all","season:spring"],"dimensions":[[]]}}',
    );
  });

  it('is the same for a short and a long spelling of a definition', () => {
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
      'equal instants',
      'timeZone: Europe/Paris, windows: [{season: a, from: 2026-03-29T02:30, to: 2027-01-01}]',
      "timeZone: Europe/Paris, windows: [{to: '2026-12-31T23:00:00Z', from: '2026-03-29T03:30:00.0001+02:00', season: a}]",
    ],
    [
      'spaces in a cron expression',
      "windows: [{interval: a, cron: ' 0  18 * * 5 ', start: 2026-01-01}]",
      "windows: [{interval: a, cron: '0 18 * * 5', start: 2026-01-01}]",
    ],
    [
      'the defaults of close',
      'windows: [{window: day, close: {from: 2026-01-01}}]',
      'windows: [{window: day, close: {results: 100, review: 1d, grace: 600s, from: 2026-01-01T00:00}}]',
    ],
    ['durations', 'deduplicate: 1d', 'deduplicate: 24 h'],
    [
      'the order of published windows',
      'windows: [all, day, week], publish: {windows: [week, all]}',
      'windows: [all, day, week], publish: {windows: [all, week]}',
    ],
    [
      'bounds and weights',
      'columns: [{name: x, decimals: 2, min: -1.5, max: 10, from: {b: 2, a: 1}}]',
      "columns: [{name: x, decimals: 2, min: '-1.50', max: '10.0', from: {a: 1, b: 2}}]",
    ],
    ['the default ranks', 'publish: {ranks: [ordinal]}', 'publish: {}'],
  ])('is the same for %s', (_what, one, other) => {
    const [a, b] = [one, other].flatMap((fields) => {
      const columns = fields.startsWith('columns') ? '' : 'columns: [{name: x}], ';
      return parseBoardsFile(`boards: {a: {${columns}${fields}}}`, 'x').map(definitionText);
    });
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
    [
      'close',
      { windows: [{ kind: 'week', close: { from: 0, graceMs: 0, reviewMs: 0, results: 1 } }] },
    ],
    ['late', { late: 'count' }],
    ['dimensions', { dimensions: [[], ['season', 'league']] }],
    ['maxViews', { maxViews: 1 }],
    ['maxAhead', { maxAheadMs: 0 }],
    ['notAfter', { notAfter: 1 }],
    ['deduplicate', { deduplicateMs: 1 }],
    ['publish', { publish: { ...football.publish, leaders: 1 } }],
    ['ranks', { publish: { ...football.publish, ranks: RANKS } }],
  ])('has another hash for another %s', (_what, changed) => {
    expect(definitionHash({ ...football, ...changed })).not.toBe(definitionHash(football));
  });
});

const name = fc.constantFrom('a', 'b', 'c', 'constructor', '__proto__', 'x-1.5');
const minor = fc.maxSafeInteger();
const time = fc.integer({ min: Date.parse('0001-01-02'), max: Date.parse('9998-12-31') });
const duration = fc
  .tuple(fc.nat({ max: 99_999_999 }), fc.constantFrom(1, 1_000, 60_000, 3_600_000, 86_400_000))
  .map(([count, unit]) => count * unit);
const DAY = 86_400_000;
const short = fc
  .tuple(fc.nat({ max: 9_999 }), fc.constantFrom(1, 1_000, 60_000, DAY))
  .map(([count, unit]) => count * unit);
const close = fc.record({
  from: time,
  graceMs: short,
  reviewMs: fc.oneof(short, fc.constant('manual' as const)),
  results: fc.integer({ min: 1, max: 500 }),
});
const kept = fc
  .record({ keepMs: duration, close }, { requiredKeys: [] })
  .map(({ keepMs, ...rest }) => {
    if (keepMs === undefined || rest.close === undefined)
      return { ...rest, ...(keepMs === undefined ? {} : { keepMs }) };
    const { graceMs, reviewMs } = rest.close;
    const least = graceMs + (reviewMs === 'manual' ? 0 : reviewMs) + DAY;
    return { ...rest, keepMs: Math.max(keepMs, Math.ceil(least / DAY) * DAY) };
  });

const bounds = fc
  .tuple(fc.option(minor, { nil: undefined }), fc.option(minor, { nil: undefined }))
  .map(([a, b]) => {
    if (a !== undefined && b !== undefined) return { min: Math.min(a, b), max: Math.max(a, b) };
    return { ...(a === undefined ? {} : { min: a }), ...(b === undefined ? {} : { max: b }) };
  });
const weights = fc
  .uniqueArray(
    fc.tuple(
      name,
      fc.integer({ min: -9, max: 9 }).filter((weight) => weight !== 0),
    ),
    { minLength: 1, maxLength: 3, selector: ([input]) => input },
  )
  .map((pairs) => Object.fromEntries(pairs));

const column: fc.Arbitrary<Column> = fc
  .record(
    {
      name,
      update: fc.constantFrom(...UPDATES),
      order: fc.constantFrom(...ORDERS),
      decimals: fc.integer({ min: 0, max: 15 }),
      bounds,
      from: weights,
    },
    { requiredKeys: ['name', 'update', 'order', 'decimals', 'bounds'] },
  )
  .map(({ bounds, from, ...fields }) => {
    const plain = isDeepStrictEqual(Object.entries(from ?? {}), [[fields.name, 1]]);
    const weighs = from !== undefined && fields.update === 'sum' && !plain;
    return { ...fields, ...bounds, ...(weighs ? { from } : {}) };
  });

const window: fc.Arbitrary<Window> = fc.oneof(
  fc.constant<Window>({ kind: 'all' }),
  fc
    .tuple(fc.constantFrom(...CALENDAR_WINDOWS), kept)
    .map(([kind, keep]): Window => ({ kind, ...keep })),
  fc
    .tuple(fc.constantFrom('s', 't'), time, fc.integer({ min: 1, max: 1e10 }), kept)
    .map(([name, from, length, keep]): Window => ({
      ...{ kind: 'season', name, from, to: from + length },
      ...keep,
    })),
  fc
    .tuple(fc.constantFrom('i', 'j'), fc.constantFrom('0 18 * * 5', '*/5 * * * * *'), time, kept)
    .map(([name, cron, start, keep]): Window => ({
      ...{ kind: 'interval', name, cron, start },
      ...keep,
    })),
);

/** A part of a list, in the order of the list; undefined for the whole list. */
const someOf = <T>(list: readonly T[]): fc.Arbitrary<T[] | undefined> =>
  fc
    .subarray([...list], { minLength: 1 })
    .map((some) => (some.length === list.length ? undefined : some));

const publishOf = ({
  windows,
  dimensions,
}: Pick<BoardDefinition, 'windows' | 'dimensions'>): fc.Arbitrary<Publish> =>
  fc
    .record({
      rankChanges: fc.constantFrom(...RANK_CHANGES),
      ranks: fc.constantFrom<Publish['ranks'][]>(['ordinal'], RANKS),
      windows: someOf(windows.map(windowName)),
      dimensions: someOf(dimensions),
      overtook: fc.nat({ max: 2 }),
      leaders: fc.nat({ max: 2 }),
    })
    .map(({ windows, dimensions, ...rest }) => ({
      ...rest,
      ...(windows === undefined ? {} : { windows }),
      ...(dimensions === undefined ? {} : { dimensions }),
    }));

/** Definitions that parseBoardsFile can return. */
const definitionArbitrary: fc.Arbitrary<BoardDefinition> = fc
  .record(
    {
      board: fc.constantFrom('arena', '42', 'constructor', 'x-1.5'),
      columns: fc.uniqueArray(column, { minLength: 1, maxLength: 3, selector: ({ name }) => name }),
      ties: fc.constantFrom(...TIES),
      timeZone: fc.constantFrom('UTC', 'Europe/Paris'),
      windows: fc.uniqueArray(window, { minLength: 1, maxLength: 4, selector: windowName }),
      late: fc.constantFrom(...LATE),
      dimensions: fc.uniqueArray(fc.uniqueArray(name, { maxLength: 2 }), {
        minLength: 1,
        maxLength: 3,
        selector: (names) => [...names].sort().join(),
      }),
      maxViews: fc.constantFrom(1, 10_000, 1_000_000),
      maxAheadMs: fc.oneof(fc.constant(3_600_000), duration),
      notAfter: time,
      deduplicateMs: duration.filter((ms) => ms > 0),
    },
    {
      requiredKeys: [
        ...(['board', 'columns', 'ties', 'timeZone', 'windows', 'late'] as const),
        ...(['dimensions', 'maxViews', 'maxAheadMs'] as const),
      ],
    },
  )
  .chain((fields) => publishOf(fields).map((publish) => ({ ...fields, publish })));

type Fields = Record<string, unknown>;

function parse(board: string, fields: unknown): BoardDefinition {
  const [parsed] = parseBoardsFile(stringify({ boards: { [board]: fields } }), 'b.yaml');
  return parsed!;
}

const DEFAULTS: Fields = boardFields(parse('x', { columns: [{ name: 'x' }] }));
const COLUMN_DEFAULTS: Fields = { update: 'sum', order: 'desc', decimals: 0 };
const PUBLISH_DEFAULTS: Fields = {
  rankChanges: 'every',
  ranks: ['ordinal'],
  overtook: 0,
  leaders: 0,
};

/** A random spelling of the fields: in any order, with or without defaults. */
function respelled(fields: ReturnType<typeof boardFields>, gen: GeneratorValue): Fields {
  const maybe = () => gen(fc.boolean);
  const shuffled = (object: Fields): Fields => {
    const entries = Object.entries(object);
    return Object.fromEntries(
      gen(fc.shuffledSubarray<[string, unknown]>, entries, { minLength: entries.length }),
    );
  };
  const short = (object: Fields, defaults: Fields): Fields =>
    shuffled(
      Object.fromEntries(
        Object.entries(object).filter(
          ([field, value]) => !isDeepStrictEqual(value, defaults[field]) || maybe(),
        ),
      ),
    );
  const { columns, windows, publish, ...rest } = fields;
  const columnText = ({ from, ...column }: (typeof columns)[number]) =>
    short({ ...column, ...(from === undefined ? {} : { from: shuffled(from) }) }, COLUMN_DEFAULTS);
  const windowText = (text: (typeof windows)[number]) => {
    if (typeof text !== 'string') return respelledWindow(shuffled(text), maybe);
    return text !== 'all' && maybe() ? { window: text } : text;
  };
  const lists = Object.fromEntries(
    (['windows', 'dimensions'] as const)
      .filter((list) => publish[list].length < fields[list].length || maybe())
      .map((list) => [list, maybe() ? publish[list] : [...publish[list]].reverse()]),
  );
  const { rankChanges, ranks, overtook, leaders } = publish;
  return short(
    {
      ...rest,
      columns: columns.map(columnText),
      windows: windows.map(windowText),
      publish: short({ rankChanges, ranks, overtook, leaders, ...lists }, PUBLISH_DEFAULTS),
    },
    DEFAULTS,
  );
}

/** The same window with `+00:00` for `Z`, or with more spaces in its cron expression. */
function respelledWindow(window: Fields, maybe: () => boolean): Fields {
  const { from, cron } = window;
  return {
    ...window,
    ...(typeof from === 'string' && maybe() ? { from: from.replace(/Z$/, '+00:00') } : {}),
    ...(typeof cron === 'string' && maybe() ? { cron: ` ${cron.replaceAll(' ', '  ')}` } : {}),
  };
}

/** A copy with the fields of all objects in reverse order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).reverse();
  return Object.fromEntries(entries.map(([key, field]) => [key, reversed(field)]));
}

describe('any definition', () => {
  it('is read back from its text', () => {
    fc.assert(
      fc.property(definitionArbitrary, (any) => {
        expect(parseDefinitionText(definitionText(any))).toEqual(any);
      }),
    );
  });

  it('is read back from its fields', () => {
    fc.assert(
      fc.property(definitionArbitrary, (any) => {
        expect(parse(any.board, boardFields(any))).toEqual(any);
      }),
    );
  });

  it('has the same text for any order and spelling of its fields', () => {
    fc.assert(
      fc.property(definitionArbitrary, fc.gen(), (any, gen) => {
        const text = definitionText(any);
        expect(definitionText(parseDefinitionText(text))).toBe(text);
        expect(definitionText(reversed(any) as BoardDefinition)).toBe(text);
        const spelled = respelled(boardFields(any), gen);
        expect(definitionText(parse(any.board, spelled))).toBe(text);
      }),
    );
  });

  it('has another text after any change', () => {
    fc.assert(
      fc.property(definitionArbitrary, fc.nat(), (any, choice) => {
        const changes = [...changed(any)];
        const other = changes[choice % changes.length] as BoardDefinition;
        expect([other, definitionText(other)]).not.toEqual([other, definitionText(any)]);
      }),
      { numRuns: 500 },
    );
  });
});

/** Copies of a value, each with one part changed or removed. */
function* changed(value: unknown): Generator {
  if (typeof value === 'number') yield value + 1;
  if (typeof value === 'string') yield `${value}x`;
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    if (value.length > 1) yield value.toReversed();
    for (const [index, item] of value.entries()) {
      yield value.toSpliced(index, 1);
      for (const other of changed(item)) yield value.with(index, other);
    }
  } else
    for (const [field, part] of Object.entries(value))
      for (const other of changed(part)) yield { ...value, [field]: other };
  for (const optional of ['min', 'max', 'from', 'keepMs', 'close', 'deduplicateMs'])
    if (Object.hasOwn(value, optional))
      yield Object.fromEntries(Object.entries(value).filter(([field]) => field !== optional));
}

describe('the fields of a definition', () => {
  it('include all defaults', () => {
    expect(DEFAULTS).toEqual({
      columns: [{ name: 'x', update: 'sum', order: 'desc', decimals: 0 }],
      ties: 'earliest',
      timeZone: 'UTC',
      windows: ['all'],
      late: 'deadLetter',
      dimensions: [[]],
      maxViews: 10_000,
      maxAhead: '1h',
      publish: {
        rankChanges: 'every',
        ranks: ['ordinal'],
        windows: ['all'],
        dimensions: [[]],
        overtook: 0,
        leaders: 0,
      },
    });
  });

  it('have times in UTC, durations in the largest unit, and numbers with the decimals of their column', () => {
    const given = {
      columns: [{ name: 'x', decimals: 2, min: -1, max: '2.5', from: { a: 2 } }],
      timeZone: 'Europe/Paris',
      windows: [
        { window: 'day', keep: '48h' },
        { season: 's', from: '2026-03-01', to: '2026-06-01T12:00', keep: '90 s' },
        { interval: 'i', cron: '0 18 * * 5', start: '2026-01-01', close: { from: '2026-06-01' } },
      ],
      deduplicate: '1500ms',
      maxAhead: '0s',
      notAfter: '2099-12-31',
    };
    expect(boardFields(parse('x', given))).toMatchObject({
      columns: [{ min: '-1.00', max: '2.50', from: { a: 2 } }],
      windows: [
        { window: 'day', keep: '2d' },
        {
          season: 's',
          from: '2026-02-28T23:00:00.000Z',
          to: '2026-06-01T10:00:00.000Z',
          keep: '90s',
        },
        {
          interval: 'i',
          cron: '0 18 * * 5',
          start: '2025-12-31T23:00:00.000Z',
          close: { from: '2026-05-31T22:00:00.000Z', grace: '10m', review: '1d', results: 100 },
        },
      ],
      deduplicate: '1500ms',
      maxAhead: '0ms',
      notAfter: '2099-12-30T23:00:00.000Z',
      publish: { windows: ['day', 'season:s', 'interval:i'] },
    });
  });
});
