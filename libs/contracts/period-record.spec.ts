import { describe, expect, it } from '@jest/globals';
import { IDENTITY_KEY, isOfBoard } from './definition-record.js';
import {
  decodePeriodRecord,
  deletedPeriodRecord,
  encodePeriodRecord,
  periodOfRecord,
  type PeriodRecord,
} from './period-record.js';
import { encodeSkippedBatch } from './skipped-batch.js';

const RECORD: PeriodRecord = {
  board: 'the arena',
  window: 'week:2026-W47',
  revision: 2,
  view: 'week:2026-W47 region=eu',
  ends: new Map([
    [0, 17],
    [12, 0],
  ]),
  notedAt: 1_795_165_200_000,
};
const { key, value } = encodePeriodRecord(RECORD);

const decode = (otherValue: string | null, otherKey = key) =>
  decodePeriodRecord({
    key: Buffer.from(otherKey),
    value: otherValue === null ? null : Buffer.from(otherValue),
  });
const keyOf = (text: string) => ({ key: Buffer.from(text) });

describe('the record of a closed window', () => {
  it('is read as it was written, also without a view or with fields of a later version', () => {
    expect(decode(value)).toEqual(RECORD);
    expect(decode(value.replace('"week:2026-W47 region=eu"', 'null')).view).toBeNull();
    expect(decode(value.replace('{', '{"later":1,'))).toEqual(RECORD);
  });

  it('has a key that names board and window, also its tombstone', () => {
    expect(key).toBe('\u0000period the arena week:2026-W47');
    expect(periodOfRecord(keyOf(key))).toBe('the arena week:2026-W47');
    expect(deletedPeriodRecord(RECORD)).toEqual({ key, value: null });
    for (const other of ['arena', IDENTITY_KEY, encodeSkippedBatch(SKIPPED).key])
      expect(periodOfRecord(keyOf(other))).toBeUndefined();
    expect(periodOfRecord({ key: null })).toBeUndefined();
  });

  it('is not of a board for readers of definitions, as no record is with such a key', () => {
    for (const other of [key, IDENTITY_KEY, encodeSkippedBatch(SKIPPED).key, '\u0000later'])
      expect(isOfBoard(keyOf(other))).toBe(false);
    for (const other of ['arena', 'period', '']) expect(isOfBoard(keyOf(other))).toBe(true);
    expect(isOfBoard({ key: null })).toBe(true);
  });

  it.each([
    [null, 'the value is not JSON'],
    ['hello', 'the value is not JSON'],
    ['[]', 'value must be an object'],
    [value.replace(':2,', ':-1,'), 'value/revision must be'],
    [value.replace('"0":17', '"0":-17'), 'value/ends must be'],
    [value.replace('"week:2026-W47 region=eu"', '7'), 'value/view must be'],
    [value.replace('the arena', 'cup'), 'the key is not that of cup week:2026-W47'],
  ])('refuses %s: %s', (other, problem) => {
    expect(() => decode(other)).toThrow(problem);
  });
});

const SKIPPED = { partition: 3, first: 17, last: 23, crc: 4 };
