import { describe, expect, it } from '@jest/globals';
import { LATEST_TIME } from '#board';
import { bytesText, countText, durationText, expiryText } from './value-text.js';

describe('the text of a value', () => {
  it.each([
    [0.2, '1 s'],
    [45, '45 s'],
    [119, '119 s'],
    [121, '2 min'],
    [3_600, '60 min'],
    [12_000, '3 h 20 min'],
    [10_800, '3 h'],
    [187_200, '2 d 4 h'],
  ])('%d seconds are %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text);
  });

  it.each([
    [0, '0.0 MB'],
    [1_300_000, '1.2 MB'],
    [340 * 1_048_576, '340 MB'],
    [5.1 * 2 ** 30, '5.1 GB'],
  ])('%d bytes are %s', (bytes, text) => {
    expect(bytesText(bytes)).toBe(text);
  });

  it('separates the thousands of a count', () => {
    expect(countText(1_234_567)).toBe('1,234,567');
  });
});

const DAY = 86_400_000;
/** The expiry of `keep: 99999999d`: later than the latest Date. */
const FAR = LATEST_TIME + 1 + 99_999_999 * DAY;

describe('expiryText', () => {
  it('is a time up to the latest event time, and null beyond', () => {
    expect(expiryText(Date.UTC(2026, 10, 20))).toBe('2026-11-20T00:00:00.000Z');
    expect(expiryText(LATEST_TIME)).toBe('9999-12-31T23:59:59.999Z');
    for (const never of [null, LATEST_TIME + 1, FAR]) expect(expiryText(never)).toBeNull();
  });
});
