import { describe, expect, it } from '@jest/globals';
import { bytesText, countText, durationText } from './value-text.js';

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
