import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatTime, isEventTime, parseTime } from './time.js';

const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

describe('a time with a zone', () => {
  it.each([
    ['2026-11-20T09:00:00Z', '2026-11-20T09:00:00.000Z'],
    ['2026-11-20t09:00:00z', '2026-11-20T09:00:00.000Z'],
    ['2026-11-20T09:00:00.1Z', '2026-11-20T09:00:00.100Z'],
    ['2026-11-20T09:00:00.123Z', '2026-11-20T09:00:00.123Z'],
    ['2026-11-20T09:00:00+14:00', '2026-11-19T19:00:00.000Z'],
    ['2026-11-20T09:00:00-00:00', '2026-11-20T09:00:00.000Z'],
    ['2026-11-20T09:00:00-23:59', '2026-11-21T08:59:00.000Z'],
    ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000Z'],
    ['2000-02-29T12:00:00Z', '2000-02-29T12:00:00.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0001-01-01T01:00:00+01:00', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999Z'],
    ['9999-12-31T22:59:59.999-01:00', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (text, utc) => {
    expect(parseTime(text)).toBe(Date.parse(utc));
    expect(formatTime(parseTime(text) ?? NaN)).toBe(utc);
  });

  it('loses all digits beyond ms, also before 1970', () => {
    expect(parseTime('2026-11-20T09:00:00.123999999Z')).toBe(parseTime('2026-11-20T09:00:00.123Z'));
    expect(parseTime('1969-12-31T23:59:59.9999Z')).toBe(-1);
    expect(parseTime('1969-12-31T23:59:59.0009Z')).toBe(-1_000);
  });

  it('reads back from what formatTime wrote, in any zone', () => {
    const ms = fc.integer({ min: EARLIEST, max: LATEST });
    const zone = fc.integer({ min: -1439, max: 1439 });
    fc.assert(
      fc.property(ms, zone, (time, minutes) => {
        const local = time + minutes * 60_000;
        fc.pre(local >= EARLIEST && local <= LATEST);
        const hh = String(Math.trunc(Math.abs(minutes) / 60)).padStart(2, '0');
        const mm = String(Math.abs(minutes) % 60).padStart(2, '0');
        const text = formatTime(local).replace('Z', `${minutes < 0 ? '-' : '+'}${hh}:${mm}`);
        expect(parseTime(text)).toBe(time);
      }),
    );
  });

  it('is read independently of the time before', () => {
    const ms = fc.integer({ min: EARLIEST, max: LATEST });
    const daysLater = fc.integer({ min: -400, max: 400 });
    fc.assert(
      fc.property(ms, daysLater, (time, days) => {
        const later = Math.min(Math.max(time + days * 86_400_000, EARLIEST), LATEST);
        for (const each of [time, later]) expect(parseTime(formatTime(each))).toBe(each);
      }),
    );
  });
});

describe('a time outside the years 0001 to 9999', () => {
  it.each([LATEST + 1, EARLIEST - 1, 8.64e15, 8.64e15 + 1, 9e18, -9e18])(
    'is written as its number: %p',
    (time) => {
      expect(formatTime(time)).toBe(String(time));
      expect(formatTime(LATEST)).toBe('9999-12-31T23:59:59.999Z');
      expect(formatTime(time)).toBe(String(time));
    },
  );
});

describe('a value that is not a time', () => {
  // prettier-ignore
  const NO_TIMES = [
    '', ' ', 'now', '2026-11-20', '2026-11-20T09:00:00', '2026-11-20T09:00Z', '2026-11-20 09:00:00Z', '20261120T090000Z',
    '2026-11-20T09:00:00.Z', '2026-11-20T09:00:00,5Z', '2026-11-20T09:00:00+0100', '2026-11-20T09:00:00+01',
    '2026-11-20T09:00:00 +01:00', '2026-11-20T09:00:00Z ', ' 2026-11-20T09:00:00Z', '2026-11-20T09:00:00Z\n',
    '2026-11-20T24:00:00Z', '2026-11-20T25:00:00Z', '2026-11-20T09:60:00Z', '2026-11-20T09:00:60Z', '2016-12-31T23:59:60Z',
    '2026-11-20T09:00:00+24:00', '2026-11-20T09:00:00+01:60', '2026-02-29T00:00:00Z', '2026-02-30T00:00:00Z', '2026-02-30T01:00:00Z',
    '1900-02-29T00:00:00Z', '2026-04-31T00:00:00Z', '2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z', '2026-01-00T00:00:00Z',
    '0000-12-31T23:59:59Z', '10000-01-01T00:00:00Z', '+010000-01-01T00:00:00Z', '-0001-01-01T00:00:00Z',
    '0001-01-01T00:00:00+00:01', '0000-12-31T23:30:00-01:00', '9999-12-31T23:59:59-00:01', '1763629200000', '２026-11-20T09:00:00Z',
  ];
  it.each(NO_TIMES)('can be %j', (text) => {
    expect(parseTime(text)).toBeUndefined();
  });

  it('can be a time with more than 64 characters', () => {
    const digits = (count: number) => `2026-11-20T09:00:00.${'1'.repeat(count)}Z`;
    expect(parseTime(digits(43))).toBe(Date.parse('2026-11-20T09:00:00.111Z'));
    expect(parseTime(digits(44))).toBeUndefined();
    expect(parseTime(digits(1_000_000))).toBeUndefined();
  });

  it.each([[0], [1763629200000], [null], [[]], [{}], [true]])('can be %j', (value) => {
    expect(isEventTime(value)).toBe(false);
  });
});
