import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatDecimal, isDecimal, parseDecimal, type ParsedDecimal } from './decimal.js';

const MOST = 2n ** 53n - 1n;

/**
 * What parseDecimal must return, computed by BigInt alone. Only for texts in the form of a decimal.
 */
function oracle(text: string, decimals: number): ParsedDecimal {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  if (fraction.length > decimals) return { ok: false, reason: 'TOO_MANY_DECIMALS' };
  const scale = 10n ** BigInt(decimals - fraction.length);
  const size = BigInt(whole + fraction) * scale;
  if (size > MOST) return { ok: false, reason: 'OUT_OF_RANGE' };
  return { ok: true, minor: size === 0n ? 0 : Number(text.startsWith('-') ? -size : size) };
}

const decimals = fc.integer({ min: 0, max: 15 });
const minorUnits = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer(),
  fc.constantFrom(0, 1, -1, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER),
);
const whole = fc.oneof(
  fc.constantFrom('0', '9007199254740991', '9007199254740992', '999999999999999'),
  fc.stringMatching(/^[1-9]\d{0,18}$/),
);
const decimalText = fc
  .tuple(fc.constantFrom('', '-'), whole, fc.stringMatching(/^(\.\d{1,17})?$/))
  .map((parts) => parts.join(''));

describe('reading a decimal', () => {
  it('agrees with BigInt on every text in the form of a decimal', () => {
    fc.assert(
      fc.property(decimalText, decimals, (text, digits) => {
        expect(parseDecimal(text, digits)).toStrictEqual(oracle(text, digits));
      }),
      { numRuns: 1_000 },
    );
  });

  it.each([
    ['9007199254740991', 0, 9007199254740991],
    ['-9007199254740991', 0, -9007199254740991],
    ['9007199254740.991', 3, 9007199254740991],
    ['0.1', 1, 1],
    ['12.50', 2, 1250],
    ['12.5', 2, 1250],
    ['-0', 0, 0],
    ['-0.00', 2, 0],
  ])('takes %j with %i decimals as %i minor units', (text, digits, minor) => {
    const parsed = parseDecimal(text, digits);
    expect(parsed).toStrictEqual({ ok: true, minor });
  });

  it.each([
    ['9007199254740992', 0, 'OUT_OF_RANGE'],
    ['-9007199254740992', 0, 'OUT_OF_RANGE'],
    ['9007199254740993', 0, 'OUT_OF_RANGE'],
    ['9007199254740991', 1, 'OUT_OF_RANGE'],
    ['1.0', 0, 'TOO_MANY_DECIMALS'],
    ['0.0000', 3, 'TOO_MANY_DECIMALS'],
    ['99999999999999999999.99', 1, 'TOO_MANY_DECIMALS'],
  ])('refuses %j with %i decimals: %s', (text, digits, reason) => {
    expect(parseDecimal(text, digits)).toEqual({ ok: false, reason });
  });

  // prettier-ignore
  const NO_DECIMALS = [
    '', ' ', ' 1', '1 ', '1\n', '+1', '--1', '-', '01', '-01', '00', '.5', '5.', '-.5', '1..2', '1.2.3', '1e3', '1E3',
    '1,5', '1_000', '0x10', 'NaN', 'Infinity', '-Infinity', 'null', '１', '٣', '−1',
  ];
  it.each(NO_DECIMALS)('says that %j is no decimal', (text) => {
    expect(isDecimal(text)).toBe(false);
    expect(parseDecimal(text, 15)).toEqual({ ok: false, reason: 'NOT_A_DECIMAL' });
  });

  it('takes up to 64 characters for a decimal, and no more', () => {
    expect(parseDecimal(`-${'9'.repeat(63)}`, 0)).toEqual({ ok: false, reason: 'OUT_OF_RANGE' });
    expect(parseDecimal('9'.repeat(65), 0)).toEqual({ ok: false, reason: 'NOT_A_DECIMAL' });
    expect(parseDecimal('9'.repeat(1_000_000), 0).ok).toBe(false);
  });
});

describe('writing a decimal', () => {
  it.each([
    [87, 0, '87'],
    [-87, 0, '-87'],
    [5, 3, '0.005'],
    [-5, 3, '-0.005'],
    [1250, 2, '12.50'],
    [0, 2, '0.00'],
    [-0, 0, '0'],
    [-0, 2, '0.00'],
    [9007199254740991, 15, '9.007199254740991'],
    [-9007199254740991, 0, '-9007199254740991'],
  ])('gives %d minor units with %i decimals as %j', (minor, digits, text) => {
    expect(formatDecimal(minor, digits)).toBe(text);
  });

  it('gives a text that reads back as the same minor units and has all decimals', () => {
    fc.assert(
      fc.property(minorUnits, decimals, (minor, digits) => {
        const text = formatDecimal(minor, digits);
        expect(parseDecimal(text, digits)).toStrictEqual({ ok: true, minor: minor + 0 });
        expect(text.split('.')[1]?.length ?? 0).toBe(digits);
      }),
      { numRuns: 1_000 },
    );
  });
});
