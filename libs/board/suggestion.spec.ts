import { describe, expect, it } from '@jest/globals';
import { suggestion } from './suggestion.js';

describe('a suggestion', () => {
  it.each([
    ['wek', ['all', 'week'], 'week'],
    ['ALL', ['all', 'week'], 'all'],
    ['winter-2025', ['week', 'season:winter-2025', 'season:spring-2025'], 'season:winter-2025'],
    ['race', ['rate', 'interval:race'], 'interval:race'],
  ])('for %s out of %j is %s', (name, known, meant) => {
    expect(suggestion(name, known)).toBe(`; did you mean ${meant}?`);
  });

  it('is empty if no known name is similar', () => {
    expect(suggestion('month', ['all', 'season:spring'])).toBe('');
    expect(suggestion('', ['season:'])).toBe('');
    expect(suggestion('month', [])).toBe('');
  });
});
