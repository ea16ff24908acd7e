import { describe, expect, it } from '@jest/globals';
import { countText, durationText } from './value-text.js';

describe('the text of a value', () => {
  it.each([
    [0.2, '1 s'],
    [45, '45 s'],
    [119, '119 s'],
    [121, '2 min'],
    [3_600, '60 min'],
    [12_000, '3.3 h'],
    [10_800, '3 h'],
    [187_200, '2.2 d'],
  ])('%d seconds are %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text);
  });

  it('separates the thousands of a count', () => {
    expect(countText(1_234_567)).toBe('1,234,567');
  });
});
