import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isAttributes, isId, quote, show } from './values.js';

describe('an id', () => {
  it.each([
    ['one byte', 'a'],
    ['spaces alone', '  '],
    ['128 bytes', 'a'.repeat(128)],
    ['128 bytes of two-byte characters', 'é'.repeat(64)],
    ['128 bytes of emoji', '😀'.repeat(32)],
    ['a combining accent, which is not normalised', 'e\u0301'],
    ['a zero-width space', '\u200b'],
    ['the first character after C1', '\u00a0'],
  ])('can be %s', (_, id) => {
    expect(isId(id)).toBe(true);
  });

  it.each([
    ['an empty text', ''],
    ['129 bytes', 'a'.repeat(129)],
    ['129 bytes in 65 characters', `${'é'.repeat(64)}a`],
    ['132 bytes of emoji', '😀'.repeat(33)],
    ['1,000 characters', 'a'.repeat(1_000)],
    ['a NUL', 'a\u0000b'],
    ['a tab', 'a\tb'],
    ['a line feed at the end', 'a\n'],
    ['the last of C0', '\u001f'],
    ['DEL', 'a\u007f'],
    ['the first of C1', '\u0080'],
    ['the last of C1', '\u009f'],
    ['a lone high surrogate', 'a\ud800'],
    ['a lone low surrogate', '\udc00a'],
    ['surrogates the wrong way round', '\ude00\ud83d'],
    ['a number', 7],
    ['null', null],
    ['a list', ['a']],
    ['an object', { toString: () => 'a' }],
  ])('can not be %s', (_, id) => {
    expect(isId(id)).toBe(false);
  });

  it('has 1 to 128 bytes without control characters or lone surrogates', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 140 }), (text) => {
        const bytes = Buffer.byteLength(text);
        const control = /\p{Cc}/u.test(text);
        expect(isId(text)).toBe(bytes >= 1 && bytes <= 128 && !control && text.isWellFormed());
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('attributes', () => {
  it('have names of up to 128 bytes, and values of up to 256 bytes', () => {
    expect(isAttributes({})).toBe(true);
    expect(isAttributes({ region: 'eu', ['n'.repeat(128)]: 'é'.repeat(128) })).toBe(true);
  });

  it('can have lists of up to 64 values', () => {
    const longest = 'é'.repeat(128);
    expect(isAttributes({ guild: [], region: ['eu'], all: Array(64).fill(longest) })).toBe(true);
  });

  it.each([
    ['a list of 65 values', { guild: Array(65).fill('a') }],
    ['an empty value in a list', { guild: ['red', ''] }],
    ['a value of 257 bytes in a list', { guild: [`${'é'.repeat(128)}a`] }],
    ['null in a list', { guild: [null] }],
    ['a list in a list', { guild: [['red']] }],
    ['a value of 257 bytes', { region: `${'é'.repeat(128)}a` }],
    ['an empty value', { region: '' }],
    ['an empty name', { '': 'eu' }],
    ['a name of 129 bytes', { ['n'.repeat(129)]: 'eu' }],
    ['a control character in a name', { 'a\nb': 'eu' }],
    ['a number', { region: 1 }],
    ['null', { region: null }],
    ['an object', { region: { name: 'eu' } }],
    ['a bad value under __proto__', JSON.parse('{"__proto__":1}') as unknown],
  ])('can not contain %s', (_, attributes) => {
    expect(isAttributes(attributes)).toBe(false);
  });

  it.each([[[]], [['a']], [null], ['text'], [1]])('can not be %j', (value) => {
    expect(isAttributes(value)).toBe(false);
  });
});

describe('a value in a dead letter', () => {
  it.each([
    ['1e3', '"1e3"'],
    [' 1', '" 1"'],
    [7, '7'],
    [null, 'null'],
    [[1, 2], 'an array of 2'],
    [{}, 'an empty object'],
    [{ a: 1, b: 2 }, 'an object with "a", "b"'],
    [{ a: 1, b: 2, c: 3, d: 4, e: 5, f: 6 }, 'an object with "a", "b", "c", "d", "e", ...'],
    ['\u0000\n\u007f\u0085\ud800', '"\\u0000\\n\\u007f\\u0085\\ud800"'],
  ])('%j is shown as %s', (value, text) => {
    expect(show(value)).toBe(text);
  });

  it('is cut after 80 characters', () => {
    expect(quote('a'.repeat(80))).toBe(`"${'a'.repeat(80)}"`);
    expect(quote('a'.repeat(81))).toBe(`"${'a'.repeat(80)}"...`);
    expect(quote(`${'a'.repeat(79)}😀`)).toBe(`"${'a'.repeat(79)}\\ud83d"...`);
  });

  it('is one line of well-formed text, for any value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const text = show(value);
        expect(text).not.toMatch(/\p{Cc}/u);
        expect(text.isWellFormed()).toBe(true);
        expect(text.length).toBeLessThan(3_000);
      }),
    );
  });
});
