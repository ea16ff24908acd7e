import { describe, expect, it } from '@jest/globals';
import { arena } from '../../test/support/arena.js';
import { MalformedViewError, NoInstanceError, NoSuchViewError } from './board-errors.js';
import type { BoardDefinition } from './definition.js';
import { readableView, viewToRead } from './window-of-read.js';

const DAY_MS = 86_400_000;
const board: BoardDefinition = {
  ...arena,
  timeZone: 'Europe/Paris',
  windows: [
    { kind: 'all' },
    { kind: 'day' },
    { kind: 'week', keepMs: DAY_MS },
    { kind: 'month' },
    { kind: 'year' },
    {
      kind: 'season',
      name: 'spring',
      from: Date.parse('2026-03-01T00:00Z'),
      to: Date.parse('2026-06-01T00:00Z'),
    },
    {
      kind: 'interval',
      name: 'previous',
      cron: '0 18 * * 5',
      start: Date.parse('2026-11-01T00:00Z'),
    },
  ],
  dimensions: [[], ['league', 'season']],
};

/** 00:30 on Monday 2027-01-04 in Paris, still Sunday in UTC. */
const NIGHT = Date.parse('2027-01-04T00:30:00+01:00');
const view = (window: string, at = NIGHT) => viewToRead(board, { window, where: [] }, at).view;

describe('the window that a reader asks for', () => {
  it.each([
    ['all', 'all'],
    ['day', 'day:2027-01-04'],
    ['day:current', 'day:2027-01-04'],
    ['day:previous', 'day:2027-01-03'],
    ['day:2026-02-28', 'day:2026-02-28'],
    ['week', 'week:2027-W01'],
    ['week:current', 'week:2027-W01'],
    ['week:previous', 'week:2026-W53'],
    ['week:2026-W53', 'week:2026-W53'],
    ['month:previous', 'month:2026-12'],
    ['year:current', 'year:2027'],
    ['year:previous', 'year:2026'],
    ['season:spring', 'season:spring'],
    ['interval:previous', 'interval:previous@2027-01-01T17:00:00Z'],
    ['interval:previous@current', 'interval:previous@2027-01-01T17:00:00Z'],
    ['interval:previous@previous', 'interval:previous@2026-12-25T17:00:00Z'],
    ['interval:previous@2026-11-20T17:00:00Z', 'interval:previous@2026-11-20T17:00:00Z'],
  ])('%s is %s', (asked, expected) => {
    expect(view(asked)).toBe(expected);
  });

  it('changes when the window ends on the clock of the zone', () => {
    const midnight = Date.parse('2026-10-26T00:00:00+01:00');
    expect([view('day', midnight - 1), view('day', midnight)]).toEqual([
      'day:2026-10-25',
      'day:2026-10-26',
    ]);
    // The day that ends has 25 hours.
    expect(view('day:previous', midnight + DAY_MS - 1)).toBe('day:2026-10-25');
    expect(view('day', midnight - 25 * 3_600_000)).toBe('day:2026-10-25');
    expect(view('day', midnight - 25 * 3_600_000 - 1)).toBe('day:2026-10-24');
  });

  it('has the time at which its view expires', () => {
    const expiry = (window: string) => viewToRead(board, { window, where: [] }, NIGHT).expiresAt;
    expect(expiry('day')).toBeNull();
    expect(expiry('week:2026-W47')).toBe(Date.parse('2026-11-24T00:00:00+01:00'));
  });

  it.each([
    ['an interval that has not begun', 'interval:previous', '2026-11-05T00:00:00Z'],
    ['the interval before the first one', 'interval:previous@previous', '2026-11-06T17:00:00Z'],
    ['the year before year 1', 'year:previous', '0001-06-01T00:00:00Z'],
  ])('can be missing: %s', (_, window, time) => {
    const at = Date.parse(time);
    expect(() => view(window, at)).toThrow(
      expect.objectContaining({ constructor: NoInstanceError, board: 'arena', window, at }),
    );
  });

  // prettier-ignore
  it.each([
    'al', 'weak', 'week:2026-W54', 'week:2026-47', 'day:2026-02-29', 'day:previous ', 'all:current', 'season:summer',
    'season:spring:current', 'interval:previous:current', 'interval:previous@2026-11-20T18:00:00Z', 'hour', '',
  ])('%j is unknown, and the error lists the known windows', (window) => {
    expect(() => view(window)).toThrow(
      expect.objectContaining({
        constructor: NoSuchViewError,
        board: 'arena',
        asked: window,
        message: expect.stringContaining('month:2026-11, '),
        known: [
          'all',
          ...['day', 'week', 'month', 'year'].flatMap((name) => [name, `${name}:current`, `${name}:previous`]),
          'season:spring',
          'interval:previous', 'interval:previous@current', 'interval:previous@previous',
        ],
      }),
    );
  });
});

describe('the dimensions that a reader asks for', () => {
  const where = [
    ['season', '1 a'],
    ['league', 'en'],
  ] as const;

  it('can be in any order', () => {
    expect(viewToRead(board, { window: 'all', where }, NIGHT).view).toBe(
      'all league=en season=1%20a',
    );
    expect(readableView(board, 'week:2026-W47 season=1%20a league=en')).toEqual({
      view: 'week:2026-W47 league=en season=1%20a',
      expiresAt: Date.parse('2026-11-24T00:00:00+01:00'),
    });
  });

  it.each([
    [[['league', 'en']]],
    [[...where, ['league', 'en']]],
    [
      [
        ['league', 'en'],
        ['league', 'fr'],
      ],
    ],
    [
      [
        ['league', 'en'],
        ['seasn', '1'],
      ],
    ],
  ] as [[string, string][]][])('are refused if they are %j', (given) => {
    expect(() => viewToRead(board, { window: 'all', where: given }, NIGHT)).toThrow(
      expect.objectContaining({ constructor: NoSuchViewError, known: ['league and season'] }),
    );
  });

  it('can not be empty if the board has no overall ranking', () => {
    const split = { ...board, dimensions: [['league']] };
    expect(() => viewToRead(split, { window: 'all', where: [] }, NIGHT)).toThrow(
      'has no overall ranking; it is ranked: league',
    );
  });
});

describe('the text of a view that is read', () => {
  it('has an absolute window', () => {
    expect(() => readableView(board, 'week')).toThrow(NoSuchViewError);
    expect(() => readableView(board, 'week:previous')).toThrow(NoSuchViewError);
    expect(readableView(board, 'all')).toEqual({ view: 'all', expiresAt: null });
  });

  it('has the form of formatView', () => {
    expect(() => readableView(board, 'all  league=en')).toThrow(MalformedViewError);
  });
});
