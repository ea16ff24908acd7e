import { describe, expect, it } from '@jest/globals';
import { hashOf, nearest, routeOf, valuesOf, windowsOf, type Board } from './route.js';

const view = (text: string, version: number) => ({ view: text, version, size: 1, expiresAt: null });
const VIEWS = [
  view('all', 1),
  view('week:2026-W46 league=en.1 season=2019-20', 2),
  view('all league=en.1 season=2020-21', 9),
  view('all league=de.1%2Fa%20%2B season=2018-19', 5),
  view('week:2026-W47', 3),
];
const BOARD: Board = {
  board: 'arena',
  columns: [],
  windows: ['all', { window: 'week' }, { season: 's' }, { interval: 'cup' }],
  dimensions: [],
};

describe('the hash', () => {
  it.each([
    {
      board: 'a b/&ü',
      window: 'week:previous',
      where: { 'r?': 'eu/west & more' },
      player: '#1',
      from: 101,
    },
    { board: 'arena', window: undefined, where: {}, player: undefined, from: 1 },
  ] as const)('is read as it was written: %j', (route) => {
    expect(routeOf(hashOf(route))).toEqual(route);
  });

  it.each([
    ['', ''],
    ['#operations', ''],
    ['#board=x&from=-3', 'x'],
    ['#board=x&from=%zz', 'x'],
  ])('reads %j', (hash, board) => {
    expect(routeOf(hash)).toMatchObject({ board, from: 1 });
  });
});

describe('the choices of a view', () => {
  const german = { league: 'de.1/a +', season: '2018-19' };

  it('are the current instance of each window, then those of views', () => {
    expect(windowsOf(BOARD, VIEWS)).toEqual([
      ...['all', 'week', 'season:s', 'interval:cup'],
      ...['week:2026-W47', 'week:2026-W46'],
    ]);
  });

  it('are values that exist with those of the dimensions before', () => {
    expect(valuesOf(VIEWS, german, 'league')).toEqual(['', 'de.1/a +', 'en.1']);
    expect(valuesOf(VIEWS, german, 'season')).toEqual(['2018-19']);
    expect(valuesOf(VIEWS, {}, 'season')).toEqual(['', '2018-19', '2019-20', '2020-21']);
  });

  it('lead to the view that differs least, of several to the one that changed last', () => {
    expect(nearest(VIEWS, {})).toEqual({});
    expect(nearest(VIEWS, {}, { league: 'en.1' })).toEqual({ league: 'en.1', season: '2020-21' });
    expect(nearest(VIEWS, german, { league: 'en.1' })).toMatchObject({ season: '2020-21' });
    expect(nearest(VIEWS, german, { league: '' })).toEqual({});
    expect(nearest(VIEWS, german, { league: 'xx' })).toEqual(german);
  });
});
