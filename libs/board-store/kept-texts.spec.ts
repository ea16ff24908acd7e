import { describe, expect, it } from '@jest/globals';
import { isOffset, keptNumber, keptOffset, keptRecord, recordText } from './kept-texts.js';

describe('an offset that Redis keeps', () => {
  it.each(['-1', '0', '919', '9007199254740991'])('is %s', (text) => {
    expect(isOffset(text)).toBe(true);
    expect(keptOffset(text)).toBe(Number(text));
  });

  it.each(['', ' ', 'x', '1e3', ' 5', '5 ', '-2', '1.5', '0x1', 'NaN', '9007199254740992'])(
    'is not "%s", which counts as none',
    (text) => {
      expect(isOffset(text)).toBe(false);
      expect(keptOffset(text)).toBe(-1);
    },
  );

  it('is none where there is nothing', () => {
    expect([keptOffset(null), keptOffset(undefined)]).toEqual([-1, -1]);
  });
});

describe('a number that Redis keeps', () => {
  it.each(['0', '-62135596800000', '1795273100972813', '9006099743113215'])('is %s', (text) => {
    expect(keptNumber(text)).toBe(Number(text));
  });

  it.each([undefined, null, '', 'abc', '1e3', ' 5', '1.5', '--1', '-', '12345678901234567'])(
    'is none in %p',
    (text) => {
      expect(keptNumber(text)).toBeUndefined();
    },
  );

  it.each(['9006099743113216', '9007199254740991', '9500000000000000', '9999999999999999'])(
    'is none in %s, which could not be counted on from',
    (text) => {
      expect(keptNumber(text)).toBeUndefined();
    },
  );
});

describe('a last record that Redis keeps', () => {
  it('is read as it was written, also from before 1970', () => {
    for (const timestamp of [1_700_000_000_000, -1]) {
      const record = { offset: 919, timestamp, hash: '0123456789abcdef' };
      expect(keptRecord(recordText(record))).toEqual(record);
    }
  });

  it.each([
    undefined,
    null,
    '',
    '919',
    '919 5',
    'x 5 h',
    '919 x h',
    '-1 5 h',
    '919 5 h ',
    '1 2 3 4',
  ])('is none in %p', (text) => {
    expect(keptRecord(text)).toBeUndefined();
  });
});
