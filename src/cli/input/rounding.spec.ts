import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { roundDecimal, roundEvent } from './rounding.js';

describe('roundDecimal', () => {
  it.each([
    ['34.699999999999996', 1, '34.7'],
    ['1302.0', 1, '1302.0'],
    ['1302.0', 0, '1302'],
    ['5', 2, '5'],
    ['0.15', 1, '0.2'],
    ['-0.15', 1, '-0.2'],
    ['-0.04', 1, '0.0'],
    ['0.99', 1, '1.0'],
    ['90071992547409.914', 2, '90071992547409.91'],
    ['1e-07', 2, '0.00'],
    ['1.5e+3', 1, '1500.0'],
    ['-2.5E2', 0, '-250'],
  ])('rounds %s to %i decimals: %s', (text, decimals, expected) => {
    expect(roundDecimal(text, decimals)).toBe(expected);
  });

  it.each(['', 'x', 'nan', 'Infinity', '1.', '.5', '1e9999', '1'.repeat(1_000)])(
    'leaves %p as it is',
    (text) => {
      expect(roundDecimal(text, 2)).toBe(text);
    },
  );

  it('is within half a unit of any double', () => {
    const doubles = fc.double({ min: -1e12, max: 1e12, noNaN: true });
    const property = (double: number, decimals: number) => {
      const rounded = Number(roundDecimal(String(double), decimals));
      const error = Math.abs(rounded - double);
      expect(error).toBeLessThanOrEqual(10 ** -decimals / 2 + 1e-3 * 10 ** -decimals + 1e-4);
    };
    fc.assert(fc.property(doubles, fc.integer({ min: 0, max: 4 }), property));
  });
});

describe('roundEvent', () => {
  const inputs = new Map([
    ['laps', 0],
    ['seconds', 2],
  ]);

  it('rounds the numbers of inputs, each to its own decimals, and leaves all else', () => {
    const deltas = { laps: '2.5', seconds: 1.005, other: '0.123', text: null };
    expect(roundEvent(JSON.stringify({ playerId: 'p', deltas, x: [1.55] }), inputs)).toBe(
      '{"playerId":"p","deltas":{"laps":"3","seconds":"1.01","other":"0.123","text":null},"x":[1.55]}',
    );
    expect(roundEvent('{"delta":0.6}', inputs)).toBe('{"delta":"1"}');
    expect(roundEvent('{"delta":12}', inputs)).toBe('{"delta":12}');
    for (const text of ['{', '[1.5]', 'null']) expect(roundEvent(text, inputs)).toBe(text);
  });
});
