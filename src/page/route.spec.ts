import { describe, expect, it } from '@jest/globals';
import { choicesOf, hashOf, nearest, partsOf, routeOf, valuesOf } from './route.js';

const view = (text: string) => ({ view: text, version: 1, size: 1, expiresAt: null });
/** As a listing is sorted. */
const CHOICES = choicesOf(
  [
    'all',
    'all league=de.1%2Fa%20%2B season=2018-19',
    'all league=en.1 season=2019-20',
    'all league=en.1 season=2020-21',
    'interval:cup@2026-11-20T17:00:00Z',
    'season:day',
    'week:2026-W46 league=en.1 season=2019-20',
    'week:2026-W47',
  ].map(view),
);
const GERMAN = partsOf('all league=de.1%2Fa%20%2B season=2018-19');

describe('the hash', () => {
  it.each([
    { board: 'a b/&ü', view: 'all r?=eu%2Fwest%20%26%20%2B', player: '#1', from: 101 },
    { board: 'arena', view: undefined, player: undefined, from: undefined },
  ] as const)('is read as it was written: %j', (route) => {
    expect(routeOf(hashOf(route))).toEqual(route);
  });

  it.each([
    ['', ''],
    ['#operations', ''],
    ['#board=x&from=-3', 'x'],
    ['#board=x&from=%zz', 'x'],
  ])('reads %j', (hash, board) => {
    expect(routeOf(hash)).toEqual({ board });
  });
});

describe('the choices of a view', () => {
  it('are the views of a listing, and those of the current instances', () => {
    expect(CHOICES.filter((choice) => !choice.startsWith('all'))).toEqual([
      ...['interval:cup', 'interval:cup@2026-11-20T17:00:00Z', 'season:day'],
      ...['week league=en.1 season=2019-20', 'week:2026-W46 league=en.1 season=2019-20'],
      ...['week', 'week:2026-W47'],
    ]);
  });

  it('are by window and dimension, with values that exist with those before', () => {
    const windows = ['all', 'interval:cup', 'interval:cup@2026-11-20T17:00:00Z', 'season:day'];
    expect(valuesOf(CHOICES, GERMAN)).toEqual([
      ['', [...windows, 'week', 'week:2026-W46', 'week:2026-W47']],
      ['league', ['', 'de.1/a +', 'en.1']],
      ['season', ['2018-19']],
    ]);
    const [, leagues, seasons] = valuesOf(CHOICES, partsOf('week league=fr.1'));
    expect([leagues?.[1], seasons?.[1]]).toEqual([['', 'en.1', 'fr.1'], ['']]);
  });

  it.each([
    ['league', 'en.1', 'all league=en.1 season=2020-21'], // the last season
    ['league', '', 'all'],
    ['season', '2019-20', 'all league=en.1 season=2019-20'],
    ['', 'week', 'week'],
    ['', 'week:2026-W47', 'week:2026-W47'],
    ['league', 'xx', undefined],
  ])('lead from a view to the nearest one that has as %j the value %j', (name, value, found) => {
    expect(nearest(CHOICES, GERMAN, [name, value])).toBe(found);
  });
});
