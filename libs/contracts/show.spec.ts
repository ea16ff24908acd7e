import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { quote, show } from './show.js';

describe('what a dead letter shows of a value', () => {
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
  ])('of %j: %s', (value, text) => {
    expect(show(value)).toBe(text);
  });

  it('is cut after 80 characters, without leaving half a character', () => {
    expect(quote('a'.repeat(80))).toBe(`"${'a'.repeat(80)}"`);
    expect(quote('a'.repeat(81))).toBe(`"${'a'.repeat(80)}"...`);
    expect(quote(`${'a'.repeat(79)}😀`)).toBe(`"${'a'.repeat(79)}\\ud83d"...`);
  });

  it('is one line of well-formed text, whatever the value', () => {
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
