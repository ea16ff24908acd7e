import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { arena } from '../../test/support/arena.js';
import { RejectedEventError } from './board-errors.js';
import { columnValues, type EventNumbers } from './column-values.js';
import { formatDecimal } from './decimal.js';
import type { Column } from './definition.js';

const MOST = Number.MAX_SAFE_INTEGER;

const column = (fields: Partial<Column>): Column => ({
  name: 'points',
  update: 'sum',
  order: 'asc',
  decimals: 0,
  ...fields,
});
const values = (columns: readonly Column[], numbers: EventNumbers) =>
  columnValues({ ...arena, columns }, numbers);

/** The code and the message of the rejection. */
function refusal(columns: readonly Column[], numbers: EventNumbers): [string, string] | undefined {
  try {
    values(columns, numbers);
    return undefined;
  } catch (error) {
    if (!(error instanceof RejectedEventError)) throw error;
    return [error.code, error.message];
  }
}

describe('a column with weights', () => {
  const clicks = column({ name: 'fame', decimals: 2, from: { clicks: 1, shares: 5, reports: -3 } });

  it('gains the weighted sum of the inputs in the event', () => {
    expect(values([clicks], { deltas: { clicks: '1.25', shares: '2', reports: '0.5' } })).toEqual([
      125 + 5 * 200 - 3 * 50,
    ]);
    expect(values([clicks], { deltas: { reports: '1' } })).toEqual([-300]);
  });

  it('gains nothing if the event has none of its inputs, and 0 if they cancel out', () => {
    expect(values([clicks], { deltas: {} })).toEqual([null]);
    expect(values([clicks], { deltas: { clicks: '3', reports: '1' } })).toEqual([0]);
  });

  it('shares inputs with columns that have other decimals', () => {
    const plain = column({ name: 'clicks', decimals: 4 });
    expect(values([clicks, plain], { deltas: { clicks: '0.5' } })).toEqual([50, 5_000]);
    expect(refusal([clicks, plain], { deltas: { clicks: '0.125' } })).toEqual([
      'TOO_MANY_DECIMALS',
      'column "fame" of board "arena": input "clicks": "0.125" has more decimals than the column\'s 2',
    ]);
  });

  it('does not accept its own name as an input', () => {
    expect(refusal([clicks], { deltas: { fame: '1' } })).toEqual([
      'UNKNOWN_COLUMN',
      'board "arena" has no input "fame"; its inputs: clicks, shares, reports',
    ]);
  });

  it('reads delta as its only input', () => {
    expect(values([column({ from: { kills: 3 } })], { delta: '-7' })).toEqual([-21]);
    expect(refusal([clicks], { delta: '1' })?.[0]).toBe('DELTA_NEEDS_ONE_COLUMN');
  });

  it('can bring up to 2^53-1 minor units at once, and no more', () => {
    const weight = 3;
    const most = Math.floor(MOST / weight);
    const wide = column({ from: { a: weight, b: 1 } });
    expect(values([wide], { deltas: { a: `${most}` } })).toEqual([most * weight]);
    expect(values([wide], { deltas: { a: `${most}`, b: '1' } })).toEqual([most * weight + 1]);
    expect(MOST - most * weight).toBe(1);
    expect(refusal([wide], { deltas: { a: `${most}`, b: '2' } })).toEqual([
      'OUT_OF_RANGE',
      'column "points" of board "arena": a product or the sum of 3 x a, 1 x b is outside +-(2^53-1) minor units',
    ]);
  });

  it('rejects a weighted input out of range even if the sum is in range', () => {
    const wide = column({ from: { a: 2, b: -2 } });
    const deltas = { a: `${MOST}`, b: `${MOST}` };
    expect(refusal([wide], { deltas })?.[0]).toBe('OUT_OF_RANGE');
  });

  it('equals a bigint sum for any weights and decimals', () => {
    const part = fc.record({
      weight: fc.integer({ min: -1_000_000, max: 1_000_000 }).filter((weight) => weight !== 0),
      minor: fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }),
    });
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 0, max: 15 }),
        (parts, decimals) => {
          const named = parts.map((each, index) => ({ ...each, name: `i${index}` }));
          const from = Object.fromEntries(named.map(({ name, weight }) => [name, weight]));
          const deltas = Object.fromEntries(
            named.map(({ name, minor }) => [name, formatDecimal(minor, decimals)]),
          );
          const sum = parts.reduce(
            (total, { weight, minor }) => total + BigInt(weight) * BigInt(minor),
            0n,
          );
          const [value] = values([column({ from, decimals })], { deltas });
          expect(BigInt(value ?? NaN)).toBe(sum);
        },
      ),
    );
  });
});

describe('bounds', () => {
  const bounded = column({ decimals: 2, min: -50, max: 10_000 });

  it('are inclusive', () => {
    expect(values([bounded], { delta: '-0.5' })).toEqual([-50]);
    expect(values([bounded], { delta: '100' })).toEqual([10_000]);
  });

  it.each([
    ['-0.51', '-0.51 is below min -0.50'],
    ['100.01', '100.01 is above max 100.00'],
    ['999999', '999999.00 is above max 100.00'],
  ])('reject %s', (delta, detail) => {
    expect(refusal([bounded], { delta })).toEqual([
      'OUT_OF_BOUNDS',
      `column "points" of board "arena": ${detail}`,
    ]);
  });

  it('apply to the value as sent, before a `desc` column negates it', () => {
    const falling = column({ order: 'desc', min: 0 });
    expect(values([falling], { delta: '5' })).toEqual([-5]);
    expect(refusal([falling], { delta: '-5' })?.[0]).toBe('OUT_OF_BOUNDS');
  });

  it('apply to the weighted sum, not to its inputs', () => {
    const weighted = column({ from: { a: 2, b: -1 }, max: 10 });
    expect(values([weighted], { deltas: { a: '8', b: '6' } })).toEqual([10]);
    expect(refusal([weighted], { deltas: { a: '6' } })?.[0]).toBe('OUT_OF_BOUNDS');
  });

  it('do not apply to a sum without a value', () => {
    expect(values([column({ min: 1 })], { deltas: {} })).toEqual([null]);
    expect(refusal([column({ min: 1 })], { delta: '0' })?.[0]).toBe('OUT_OF_BOUNDS');
  });

  it('apply to best and latest too', () => {
    const best = column({ update: 'best', min: 1 });
    expect(refusal([best], { delta: '0' })?.[0]).toBe('OUT_OF_BOUNDS');
    expect(refusal([column({ update: 'latest', max: 1 })], { delta: '2' })?.[0]).toBe(
      'OUT_OF_BOUNDS',
    );
  });
});

describe('a column', () => {
  it.each([
    [15, '9.007199254740991', MOST],
    [15, '-9.007199254740991', -MOST],
    [0, '9007199254740991', MOST],
    [15, '0.000000000000001', 1],
    [1, '-0.1', -1],
  ])('with %i decimals holds %s exactly', (decimals, delta, minor) => {
    expect(values([column({ decimals })], { delta })).toEqual([minor]);
  });

  it.each([
    [15, '9.007199254740992', 'OUT_OF_RANGE'],
    [0, '9007199254740992', 'OUT_OF_RANGE'],
    [0, '1.0', 'TOO_MANY_DECIMALS'],
    [14, '0.000000000000001', 'TOO_MANY_DECIMALS'],
  ])('with %i decimals rejects %s', (decimals, delta, code) => {
    expect(refusal([column({ decimals })], { delta })?.[0]).toBe(code);
  });

  it('never gets the value -0', () => {
    const zero = (fields: Partial<Column>, delta: string) =>
      Object.is(values([column(fields)], { delta })[0], 0);
    expect(zero({}, '-0')).toBe(true);
    expect(zero({ order: 'desc' }, '0')).toBe(true);
    expect(zero({ from: { a: -3 } }, '0')).toBe(true);
  });
});
