import { expect, it } from '@jest/globals';
import { fromOn, pastTimeOn, timeOn } from './board-times.js';

const UTC = { timeZone: 'UTC' };
const PARIS = { timeZone: 'Europe/Paris' };
const time = (text: string) => new Date(timeOn(PARIS, text)).toISOString();

it('a time without a zone is in the zone of the board', () => {
  expect(time('2026-07-01')).toBe('2026-06-30T22:00:00.000Z');
  expect(time('2026-01-01T18:00')).toBe('2026-01-01T17:00:00.000Z');
  expect(time('2026-01-01 18:00:01.5')).toBe('2026-01-01T17:00:01.500Z');
  expect(time('2026-01-01T18:00:00Z')).toBe('2026-01-01T18:00:00.000Z');
  expect(time('2026-01-01T18:00:00-05:00')).toBe('2026-01-01T23:00:00.000Z');
});

it('a time in the future is refused where it must be past', () => {
  expect(pastTimeOn(PARIS, '2026-01-01')).toBe(Date.parse('2025-12-31T23:00:00Z'));
  expect(() => pastTimeOn(PARIS, '2999-01-01')).toThrow('2999-01-01 is in the future');
});

it('--from needs a zone if it is for boards of several zones', () => {
  const paris = Date.parse('2025-12-31T23:00:00Z');
  expect(fromOn([PARIS, PARIS], '2026-01-01')).toBe(paris);
  expect(fromOn([], '2026-01-01')).toBe(Date.parse('2026-01-01T00:00:00Z'));
  expect(fromOn([PARIS, UTC], '2025-12-31T23:00:00Z')).toBe(paris);
  expect(fromOn([PARIS, UTC], 'start')).toBe('start');
  expect(fromOn([PARIS, UTC], undefined)).toBeUndefined();
  expect(() => fromOn([PARIS, UTC], '2026-01-01')).toThrow('several: Europe/Paris, UTC');
});
