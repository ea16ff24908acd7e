import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { formatDecimal, type BoardDefinition, type Column, type ScoreInput } from '#board';
import { arena as anyBoard } from '../board-store/fixture.js';
import { openTestRedis } from '../board-store/test-redis.js';
import { arena, END, stars, tenths } from './arena.js';
import { count, total, type Count } from './count.js';
import { COLUMNS, footballInputs, footballViews, type FootballColumn } from './football.js';
import { playerOf, type Player } from './players.js';
import { RanklogBoard } from './ranklog-board.js';
import {
  contestRecipe,
  decimalRecipes,
  footballRecipes,
  starRecipes,
  sumRecipes,
  timeRecipes,
  type Recipe,
  type TimeRecipe,
} from './recipes.js';
import { grouped, table, type Row } from './table.js';
import { rankedBy } from './zset.js';

const DOCS = 'docs/why.md';
const REWRITE = 'RANKLOG_REWRITE_WHY';
const MARKS = /(?<=<!-- measured -->\n\n)[^]*(?=\n\n<!-- end of measured -->)/;

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

type Views = ReadonlyMap<string, readonly Player[]>;

/** The same players ranked by recipes and by ranklog. */
interface Comparison {
  readonly title: string;
  readonly views: Views;
  readonly recipes: readonly (Recipe | TimeRecipe)[];
  readonly definition: BoardDefinition;
  readonly inputs: readonly (ScoreInput & { occurredAt: number })[];
}

interface Ranklog {
  readonly count: Count;
  readonly times: number;
}

interface Measured {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly ranklog: Ranklog;
}

function columnsOf(names: readonly string[], decimals = 0): Column[] {
  return names.map((name) => ({ name, update: 'sum', order: 'desc', decimals }));
}

function board(columns: readonly Column[], dimensions: string[][] = [[]]): BoardDefinition {
  const publish = { rankChanges: 'none', ranks: ['ordinal'], overtook: 0, leaders: 0 } as const;
  return { ...anyBoard, columns, dimensions, publish };
}

function ofArena(
  title: string,
  players: readonly Player[],
  { columns, recipes }: { columns: readonly Column[]; recipes: Comparison['recipes'] },
): Comparison {
  const deltas = (values: readonly number[]) =>
    columns.map(({ name, decimals }, index) => [
      name,
      formatDecimal(values[index] ?? NaN, decimals),
    ]);
  const inputs = players.flatMap(({ id, gains }) =>
    gains.map(({ values, at }) => ({
      playerId: id,
      deltas: Object.fromEntries(deltas(values)) as Record<string, string>,
      occurredAt: at,
      attributes: {},
    })),
  );
  return { title, views: new Map([['all', players]]), recipes, definition: board(columns), inputs };
}

function ofFootball(
  title: string,
  columns: readonly FootballColumn[],
  recipes: Comparison['recipes'],
): Comparison {
  return {
    title,
    views: footballViews(columns),
    recipes,
    definition: board(columnsOf(columns), [[], ['league', 'season']]),
    inputs: footballInputs(columns),
  };
}

const comparisons: readonly Comparison[] = [
  ofArena(
    `Arena: ${grouped(arena.length)} players, scores from 1 to 2,000,000, all of one minute`,
    arena,
    { columns: columnsOf(['score']), recipes: [...timeRecipes, ...Object.values(sumRecipes)] },
  ),
  ofFootball(
    'Football: points, then who had them first; 27 seasons, and all of them in one table',
    ['points'],
    [
      ...timeRecipes.filter((recipe) => recipe !== contestRecipe),
      sumRecipes.plain,
      sumRecipes.timeOnce,
      sumRecipes.fraction,
    ],
  ),
  ofFootball(
    'Football: points, goal difference, goals, then who had them first; the same 28 tables',
    COLUMNS,
    footballRecipes,
  ),
  ofArena(
    `Two columns: ${grouped(stars.length)} players, stars from 0 to 300, then coins, then who came first`,
    stars,
    { columns: columnsOf(['stars', 'coins']), recipes: starRecipes },
  ),
  ofArena(
    `Decimals: ${grouped(tenths.length)} players with gains of 0.1 to 2.0, equal sums by name`,
    tenths,
    { columns: columnsOf(['score'], 1), recipes: decimalRecipes },
  ),
];

async function rowOf(recipe: Recipe | TimeRecipe, views: Views): Promise<Row> {
  const counts = await Promise.all(
    [...views.values()].map(async (players) => {
      const key = `${newKeys().prefix}:zset`;
      return count(players, await rankedBy(recipe, players, { redis, key }));
    }),
  );
  const { name } = recipe;
  return {
    name,
    count: total(counts),
    ...('holdsTo' in recipe ? { holdsTo: recipe.holdsTo } : {}),
  };
}

/** ranklog's count, and how many players have another reach time than the exact one. */
async function ranklogOf({ views, definition, inputs }: Comparison): Promise<Ranklog> {
  const filled = await RanklogBoard.filled({ redis, keys: newKeys() }, definition, inputs);
  const counts: Count[] = [];
  let times = 0;
  for (const [view, players] of views) {
    const found = await filled.players(view);
    counts.push(count(players, found));
    const exact = new Map(players.map(({ id, at }) => [id, at]));
    times += found.filter(({ id, at }) => exact.get(id) !== at).length;
  }
  return { count: total(counts), times };
}

async function measure(comparison: Comparison): Promise<Measured> {
  const rows: Row[] = [];
  for (const recipe of comparison.recipes) rows.push(await rowOf(recipe, comparison.views));
  return { title: comparison.title, rows, ranklog: await ranklogOf(comparison) };
}

describe('composite scores against ranklog, on the same events', () => {
  const measured: Measured[] = [];
  beforeAll(async () => {
    for (const comparison of comparisons) measured.push(await measure(comparison));
  });

  it.each(comparisons.map(({ title }, index) => [title, index] as const))(
    '%s: ranklog has nobody in the wrong place, no wrong score and no wrong time',
    (_, index) => {
      const ranklog = measured[index]?.ranklog;
      const players = ranklog?.count.players ?? 0;
      expect(players).toBeGreaterThan(500);
      expect(ranklog).toEqual({ count: { players, misplaced: 0, pairs: 0, scores: 0 }, times: 0 });
    },
  );

  it(`is told in ${DOCS} with the numbers measured here; ${REWRITE}=1 writes them`, () => {
    const tables = measured
      .map(({ title, rows, ranklog }) =>
        table(title, [...rows, { name: '**ranklog**', count: ranklog.count }]),
      )
      .join('\n\n');
    const docs = readFileSync(DOCS, 'utf8');
    if (process.env[REWRITE] === '1')
      writeFileSync(
        DOCS,
        docs.replace(MARKS, () => tables),
      );
    else expect(MARKS.exec(docs)?.[0]).toBe(tables);
  });
});

describe('a count', () => {
  const player = (id: string, score: number, at: number) => playerOf(id, [{ values: [score], at }]);
  const players = [player('a', 9, 2), player('b', 9, 1), player('c', 5, 0), player('d', 4, 0)];
  type Shown = readonly [string, number];
  const shown = (...placed: Shown[]) =>
    count(
      players,
      placed.map(([id, score]) => ({ id, columns: [score] })),
    );
  const exact: [string, number][] = [
    ['b', 9],
    ['a', 9],
    ['c', 5],
    ['d', 4],
  ];
  const [b, a, c, d] = exact as [
    (typeof exact)[0],
    (typeof exact)[0],
    (typeof exact)[0],
    (typeof exact)[0],
  ];

  it('is zero for the exact board', () => {
    expect(shown(b, a, c, d)).toEqual({ players: 4, misplaced: 0, pairs: 0, scores: 0 });
  });
  it('has everybody whom one player in the wrong place moves', () => {
    expect(shown(c, b, a, d)).toEqual({ players: 4, misplaced: 3, pairs: 2, scores: 0 });
  });
  it('has each wrong score', () => {
    expect(shown(b, ['a', 8], c, ['d', 3])).toMatchObject({ misplaced: 0, pairs: 0, scores: 2 });
  });
  it('is refused for a board with other players', () => {
    expect(() => shown(b, a, c)).toThrow('other players');
    expect(() => shown(b, a, c, c)).toThrow('other players');
    expect(() => shown(b, a, c, ['e', 1])).toThrow('other players');
  });
});

describe('a recipe of score and time', () => {
  const ticks = Array.from({ length: 2_000 }, (_, index) => index);
  const tellsApart = ({ tick, scoreOf }: TimeRecipe, score: number) => {
    const last = Math.floor(END / tick);
    const scores = ticks.map((before) => Number(scoreOf(score, last - before)));
    return scores.every((each, index) => index === 0 || each > (scores[index - 1] ?? NaN));
  };

  it.each(timeRecipes.map((recipe) => [recipe.name, recipe] as const))(
    '%s: tells ticks apart up to the score it is said to, and no further',
    (_, recipe) => {
      expect(tellsApart(recipe, recipe.holdsTo)).toBe(true);
      expect(tellsApart(recipe, recipe.holdsTo + 1)).toBe(false);
    },
  );
});
