import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isAttributes, isId } from './ids.js';

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
  ])('may be %s', (_, id) => {
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
  ])('is never %s', (_, id) => {
    expect(isId(id)).toBe(false);
  });

  it('is judged by its bytes, whatever they are', () => {
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
  it('are names as ids with values of up to 256 bytes', () => {
    expect(isAttributes({})).toBe(true);
    expect(isAttributes({ region: 'eu', ['n'.repeat(128)]: 'é'.repeat(128) })).toBe(true);
  });

  it('may have lists of up to 64 values', () => {
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
  ])('never hold %s', (_, attributes) => {
    expect(isAttributes(attributes)).toBe(false);
  });

  it.each([[[]], [['a']], [null], ['text'], [1]])('are never %j', (value) => {
    expect(isAttributes(value)).toBe(false);
  });
});
