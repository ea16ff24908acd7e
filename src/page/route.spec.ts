import { describe, expect, it } from '@jest/globals';
import { completed, hashOf, routeOf, valuesOf, windowChoices, type Board } from './route.js';

const view = (text: string, version: number) => ({ view: text, version, size: 1, expiresAt: null });
const VIEWS = [
  view('all', 1),
  view('week:2026-W46 league=en.1 season=2019-20', 2),
  view('all league=en.1 season=2020-21', 9),
  view('all league=de.1%2Fa season=2018-19', 5),
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
      page: 'board',
      board: 'a b/&ü',
      window: 'week:previous',
      where: { 'r?': 'eu/west & more' },
      player: '#1',
      from: 101,
    },
    { page: 'board', board: 'arena', window: undefined, where: {}, player: undefined, from: 1 },
  ] as const)('is read as it was written: %j', (route) => {
    expect(routeOf(hashOf(route))).toEqual(route);
  });

  it.each([
    ['', 'boards', 1],
    ['#operations', 'operations', 1],
    ['#board=x&from=-3', 'board', 1],
    ['#board=x&from=%zz', 'board', 1],
  ])('reads %j', (hash, page, from) => {
    expect(routeOf(hash)).toMatchObject({ page, from });
  });
});

describe('the choices of a view', () => {
  it('names windows by their current and previous instance, then those of views', () => {
    expect(windowChoices(BOARD, VIEWS).map(([name]) => name)).toEqual([
      ...['all', 'week', 'week:previous', 'season:s', 'interval:cup', 'interval:cup@previous'],
      ...['week:2026-W47', 'week:2026-W46'],
    ]);
  });

  it('keeps the values that a view has, and takes the others from the view that changed last', () => {
    const names = ['league', 'season'];
    expect(completed(VIEWS, names, {})).toEqual({ league: 'en.1', season: '2020-21' });
    const german = { league: 'de.1/a', season: '2018-19' };
    expect(completed(VIEWS, names, { league: 'de.1/a', season: '2020-21' })).toEqual(german);
    expect(completed(VIEWS, [], german)).toEqual({});
    expect(valuesOf(VIEWS, german, 'league')).toEqual(['de.1/a', 'en.1']);
    expect(valuesOf(VIEWS, german, 'season')).toEqual(['2018-19']);
  });
});
