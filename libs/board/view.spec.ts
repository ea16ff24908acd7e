import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { arena } from '../../test/support/arena.js';
import { MalformedViewError } from './board-errors.js';
import type { BoardDefinition } from './definition.js';
import { canonicalView, formatView, parseView, viewsOf, type Attributes } from './view.js';

const attributeName = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/);
const attributeValue = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', ' ', 'a b', '=', '%', '%20', 'a=b', 'é', '😀', 'e\u0301', 'all'),
);

describe('the text of a view', () => {
  it('is the window alone for the overall ranking', () => {
    expect(formatView({ window: 'all', where: [] })).toBe('all');
  });

  it('names the values in order, percent-encoded', () => {
    // prettier-ignore
    const where = [['season', '2019-20'], ['league', 'en.1 = 100%']] as const;
    expect(formatView({ window: 'all', where })).toBe(
      'all season=2019-20 league=en.1%20%3D%20100%25',
    );
  });

  it('is printable ASCII with single spaces and reads back as the same view, for any values', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(attributeName, attributeValue)), (where) => {
        const text = formatView({ window: 'all', where });
        expect(parseView(text)).toEqual({ window: 'all', where });
        expect(text).toMatch(/^[\x21-\x7e]+( [\x21-\x7e]+)*$/);
      }),
    );
  });

  it.each([
    ["all t=a'b", 'all t=a%27b'],
    ['all t=a', 'all t=%61'],
    ['all t=a%2Fb', 'all t=a%2fb'],
    ['all t=a%2Fb', 'all t=a/b'],
    ['all t=a%20b', 'all t=%61%20%62'],
  ])('is %j, also for %j', (canonical, text) => {
    expect(canonicalView(text)).toBe(canonical);
  });

  it('is the same for any other encoding of its values', () => {
    const encoded = (value: string, choices: readonly number[]) =>
      [...Buffer.from(value)].map((byte, index) => {
        const choice = choices[index % choices.length] ?? 0;
        const character = String.fromCharCode(byte);
        if (choice === 0 && /[\w.~!*'()/:@,;$-]/.test(character)) return character;
        const hex = `%${byte.toString(16).padStart(2, '0')}`;
        return choice === 1 ? hex : hex.toUpperCase();
      });
    const pairs = fc.array(fc.tuple(attributeName, attributeValue));
    const choices = fc.array(fc.nat({ max: 2 }), { minLength: 1 });
    fc.assert(
      fc.property(pairs, choices, (where, choice) => {
        const texts = where.map(([name, value]) => ` ${name}=${encoded(value, choice).join('')}`);
        expect(canonicalView(`all${texts.join('')}`)).toBe(formatView({ window: 'all', where }));
      }),
    );
  });

  it('differs for different values', () => {
    fc.assert(
      fc.property(attributeValue, attributeValue, (a, b) => {
        const text = (value: string) => formatView({ window: 'all', where: [['name', value]] });
        expect(text(a) === text(b)).toBe(a === b);
      }),
    );
  });
});

describe('a text that is not a view is refused:', () => {
  // prettier-ignore
  it.each([
    '', ' ', 'all ', ' all', 'all  a=b', 'all region', 'all =eu', 'all region=a=b',
    'all region=%', 'all region=%zz', 'all region=%C3', 'all region=é', 'all region=a+b',
    'all region=eu\n', 'week:2026-W47 region', 'all region=\uD800',
  ])('%j', (text) => {
    expect(() => parseView(text)).toThrow(MalformedViewError);
  });

  it('a lone surrogate in a value, which no text can have', () => {
    const where = [['region', '\uD800']] as const;
    expect(() => formatView({ window: 'all', where })).toThrow(MalformedViewError);
  });

  it('with the text in the error', () => {
    expect(() => parseView('week region')).toThrow(
      expect.objectContaining({ text: 'week region', name: 'MalformedViewError' }),
    );
  });
});

describe('the views of an event', () => {
  const NOON = Date.parse('2026-11-20T12:00:00Z');
  const NEXT_DAY = Date.parse('2026-11-21T00:00:00Z');
  const board = (
    dimensions: string[][],
    fields: Partial<BoardDefinition> = {},
  ): BoardDefinition => ({
    ...arena,
    dimensions,
    ...fields,
  });
  const found = (definition: BoardDefinition, attributes: Attributes, time = NOON) =>
    viewsOf(definition, attributes, time, time);
  const texts = (...args: Parameters<typeof found>) => found(...args).map(({ view }) => view);

  it('are one for each dimension, with names in the order of the definition', () => {
    const attributes = { region: 'eu west', mode: 'duo', other: 'x' };
    expect(texts(board([[], ['region'], ['mode', 'region']]), attributes)).toEqual([
      'all',
      'all region=eu%20west',
      'all mode=duo region=eu%20west',
    ]);
  });

  it('are one for each dimension, window and choice of values, in this order', () => {
    const windows = [{ kind: 'week' }, { kind: 'all' }] as const;
    const attributes = { guild: ['red', 'blue', 'red'], mode: ['1', '2'] };
    expect(texts(board([['guild', 'mode'], []], { windows }), attributes)).toEqual([
      'week:2026-W47 guild=red mode=1',
      'week:2026-W47 guild=red mode=2',
      'week:2026-W47 guild=blue mode=1',
      'week:2026-W47 guild=blue mode=2',
      'all guild=red mode=1',
      'all guild=red mode=2',
      'all guild=blue mode=1',
      'all guild=blue mode=2',
      'week:2026-W47',
      'all',
    ]);
  });

  it('omit seasons that do not contain the event, and attributes without values', () => {
    const windows = [{ kind: 'season', name: 'winter', from: NEXT_DAY, to: Infinity }] as const;
    const definition = board([[]], { windows: [...windows, { kind: 'day' }] });
    expect(texts(definition, {})).toEqual(['day:2026-11-20']);
    expect(texts(definition, {}, NEXT_DAY)).toEqual(['season:winter', 'day:2026-11-21']);
    expect(texts(board([['guild'], ['guild', 'mode']]), { guild: [], mode: 'x' })).toEqual([]);
  });

  it('have the time at which they expire', () => {
    const windows = [{ kind: 'all' }, { kind: 'day', keepMs: 5 }] as const;
    expect(found(board([[]], { windows }), {})).toEqual([
      { view: 'all', expiresAt: null, published: true },
      { view: 'day:2026-11-20', expiresAt: NEXT_DAY + 5, published: true },
    ]);
  });

  it('are published if both the window and the dimension are', () => {
    const definition = board([[], ['mode']], {
      windows: [{ kind: 'all' }, { kind: 'day' }],
      publish: { ...board([]).publish, windows: ['day'], dimensions: [['mode']] },
    });
    expect(found(definition, { mode: 'x' })).toMatchObject([
      { view: 'all', published: false },
      { view: 'day:2026-11-20', published: false },
      { view: 'all mode=x', published: false },
      { view: 'day:2026-11-20 mode=x', published: true },
    ]);
  });

  const closing = (from: number, graceMs: number) => ({
    close: { from, graceMs, reviewMs: 0, results: 100 },
  });

  it('are without those of windows that closed before the timestamp of the record', () => {
    const windows = [
      { kind: 'all' },
      { kind: 'day', ...closing(0, 5) },
      { kind: 'week', ...closing(0, 0) },
    ] as const;
    const definition = board([[], ['mode']], { windows });
    const at = (recordTimestamp: number) =>
      viewsOf(definition, { mode: 'x' }, NOON, recordTimestamp).map(({ view }) => view);
    expect(at(NEXT_DAY + 5)).toHaveLength(6);
    expect(at(NEXT_DAY + 6)).toEqual([
      'all',
      'week:2026-W47',
      'all mode=x',
      'week:2026-W47 mode=x',
    ]);
    const nextWeek = Date.parse('2026-11-23T00:00:00Z');
    expect(at(nextWeek)).toHaveLength(4);
    expect(at(nextWeek + 1)).toEqual(['all', 'all mode=x']);
  });

  it('are all there if their windows end before they begin to close', () => {
    const at = (from: number) =>
      viewsOf(board([[]], { windows: [{ kind: 'day', ...closing(from, 0) }] }), {}, NOON, Infinity);
    expect(at(NEXT_DAY + 1)).toHaveLength(1);
    expect(() => at(NEXT_DAY)).toThrow(expect.objectContaining({ code: 'WINDOW_CLOSED' }));
  });

  it('are one list for all timestamps of which the same windows have closed', () => {
    const windows = [{ kind: 'all' }, { kind: 'day', ...closing(0, 5) }] as const;
    const definition = board([[]], { windows });
    const at = (recordTimestamp: number) => viewsOf(definition, {}, NOON, recordTimestamp);
    const open = at(NOON);
    for (const timestamp of [-1, NEXT_DAY + 5, NOON]) expect(at(timestamp)).toBe(open);
    const closed = at(NEXT_DAY + 6);
    for (const timestamp of [Number.MAX_SAFE_INTEGER, NEXT_DAY + 6])
      expect(at(timestamp)).toBe(closed);
    expect(at(NEXT_DAY + 5)).toEqual(open);
  });

  it('do not depend on the events before', () => {
    const windows = fc.uniqueArray(
      fc.record({
        kind: fc.constantFrom('day' as const, 'week' as const, 'month' as const),
        close: fc.record({
          from: fc.constantFrom(0, NEXT_DAY, NEXT_DAY + 1),
          graceMs: fc.constantFrom(0, 1, 86_400_000),
          reviewMs: fc.constant(0),
          results: fc.constant(1),
        }),
      }),
      { selector: ({ kind }) => kind, minLength: 1 },
    );
    const near = fc.tuple(fc.nat({ max: 3 }), fc.integer({ min: -1, max: 2 }));
    const time = near.map(([days, ms]) => NEXT_DAY + days * 86_400_000 + ms);
    const events = fc.array(fc.tuple(time, time, fc.constantFrom('x', 'y')), { maxLength: 20 });
    const outcomeOf = (
      definition: BoardDefinition,
      [at, timestamp, mode]: [number, number, string],
    ) => {
      try {
        return viewsOf(definition, { mode }, at, timestamp);
      } catch (error) {
        return error;
      }
    };
    fc.assert(
      fc.property(windows, events, (some, list) => {
        const definition = board([['mode']], { windows: [...some] });
        for (const event of list)
          expect(outcomeOf(definition, event)).toEqual(outcomeOf({ ...definition }, event));
      }),
      { numRuns: 500 },
    );
  });

  it('can have an empty value', () => {
    expect(texts(board([['region']]), { region: '' })).toEqual(['all region=']);
  });

  it('need all attributes', () => {
    expect(() => found(board([[], ['region', 'mode']]), { region: 'eu' })).toThrow(
      expect.objectContaining({
        code: 'MISSING_DIMENSION',
        message: expect.stringContaining('"mode"'),
      }),
    );
  });

  it('are at most 256', () => {
    const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));
    const definition = board([['a', 'b'], ['a']]);
    expect(texts(definition, { a: numbers(16), b: numbers(15) })).toHaveLength(256);
    expect(() => found(definition, { a: numbers(16), b: numbers(16) })).toThrow(
      expect.objectContaining({ code: 'TOO_MANY_VIEWS_OF_AN_EVENT' }),
    );
  });

  it('do not read inherited properties as attributes', () => {
    expect(() => found(board([['constructor']]), {})).toThrow(
      'the attribute "constructor" is missing',
    );
  });
});
