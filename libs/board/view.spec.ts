import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { BoardDefinition } from './definition.js';
import { formatView, MalformedViewError, parseView, viewsOf } from './view.js';

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

  it('is printable ASCII with single spaces and reads back as the same view, whatever the values', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(attributeName, attributeValue)), (where) => {
        const text = formatView({ window: 'all', where });
        expect(parseView(text)).toEqual({ window: 'all', where });
        expect(text).toMatch(/^[\x21-\x7e]+( [\x21-\x7e]+)*$/);
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

describe('a text that is no view is refused:', () => {
  // prettier-ignore
  it.each([
    '', ' ', 'al', 'All', 'week:2026-W47', 'all ', ' all', 'all  a=b', 'all region', 'all =eu', 'all region=a=b',
    'all region=%', 'all region=%zz', 'all region=%C3', 'all region=é', 'all region=%65u', 'all region=a%2fb',
    'all,region=eu', 'all\tregion=eu', 'all region=eu\n',
  ])('%j', (text) => {
    expect(() => parseView(text)).toThrow(MalformedViewError);
  });

  it('with the text in the error', () => {
    expect(() => parseView('weekly')).toThrow(
      expect.objectContaining({ text: 'weekly', name: 'MalformedViewError' }),
    );
  });
});

describe('the views of an event', () => {
  const board = (dimensions: string[][]): BoardDefinition => ({
    board: 'arena',
    columns: [{ name: 'points', update: 'sum', order: 'desc', decimals: 0 }],
    ties: 'earliest',
    windows: ['all'],
    dimensions,
    maxAheadMs: 0,
  });

  it('are one for each window and combination, names in the order of the definition', () => {
    const found = viewsOf(board([[], ['region'], ['mode', 'region']]), {
      region: 'eu west',
      mode: 'duo',
      other: 'x',
    });
    expect(found).toEqual({
      ok: true,
      views: ['all', 'all region=eu%20west', 'all mode=duo region=eu%20west'],
    });
  });

  it('may have an empty value', () => {
    expect(viewsOf(board([['region']]), { region: '' })).toEqual({
      ok: true,
      views: ['all region='],
    });
  });

  it('name the first attribute that is missing', () => {
    expect(viewsOf(board([[], ['region', 'mode']]), { region: 'eu' })).toEqual({
      ok: false,
      missing: 'mode',
    });
  });

  it('do not take what every object inherits for an attribute', () => {
    expect(viewsOf(board([['constructor']]), {})).toEqual({ ok: false, missing: 'constructor' });
  });
});
