import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { formatDecimal, type BoardDefinition, type Column, type ScoreInput } from '#board';
import { arena as anyBoard } from '../board-store/fixture.js';
import { openTestRedis } from '../board-store/test-redis.js';
import { arena, END, stars, tenths } from './arena.js';
import { count, grouped, table, total, type Count, type Row } from './count.js';
import { COLUMNS, footballInputs, footballViews, type FootballColumn } from './football.js';
import type { Player } from './players.js';
import { rankedByRanklog } from './ranklog-board.js';
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
import { rankedBy } from './zset.js';

const DOCS = 'docs/why.md';
const REWRITE = 'RANKLOG_REWRITE_WHY';
const MARKS = /(?<=<!-- measured -->\n\n)[^]*(?=\n\n<!-- end of measured -->)/;

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

type Views = ReadonlyMap<string, readonly Player[]>;

/** Players that are ranked by recipes and by ranklog. */
interface Comparison {
  readonly title: string;
  readonly views: Views;
  readonly recipes: readonly (Recipe | TimeRecipe)[];
  readonly definition: BoardDefinition;
  readonly inputs: readonly (ScoreInput & { occurredAt: number })[];
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
  const counts = [...views.values()].map(async (players) => {
    const key = `${newKeys().prefix}:zset`;
    return count(players, await rankedBy(recipe, players, { redis, key }));
  });
  const holdsTo = 'holdsTo' in recipe ? { holdsTo: recipe.holdsTo } : {};
  return { name: recipe.name, count: total(await Promise.all(counts)), ...holdsTo };
}

/** The count of ranklog, and how many of its players have a wrong reach time. */
async function ranklogOf({ views, definition, inputs }: Comparison) {
  const ranked = await rankedByRanklog({ redis, keys: newKeys() }, definition, inputs);
  const counts: Count[] = [];
  let times = 0;
  for (const [view, players] of views) {
    const found = await ranked(view);
    counts.push(count(players, found));
    const exact = new Map(players.map(({ id, at }) => [id, at]));
    times += found.filter(({ id, at }) => exact.get(id) !== at).length;
  }
  return { count: total(counts), times };
}

async function measure(comparison: Comparison) {
  const rows: Row[] = [];
  for (const recipe of comparison.recipes) rows.push(await rowOf(recipe, comparison.views));
  return { title: comparison.title, rows, ranklog: await ranklogOf(comparison) };
}

describe('composite scores against ranklog, on the same events', () => {
  const measured: Awaited<ReturnType<typeof measure>>[] = [];
  beforeAll(async () => {
    for (const comparison of comparisons) measured.push(await measure(comparison));
  });

  it.each(comparisons.map(({ title }, index) => [title, index] as const))(
    '%s: ranklog has no misplaced player, no wrong score and no wrong time',
    (_, index) => {
      const ranklog = measured[index]?.ranklog;
      const players = ranklog?.count.players ?? 0;
      expect(players).toBeGreaterThan(500);
      expect(ranklog).toEqual({ count: { players, misplaced: 0, pairs: 0, scores: 0 }, times: 0 });
    },
  );

  it(`${DOCS} has the measured numbers; ${REWRITE}=1 writes them`, async () => {
    const all = measured.map(({ title, rows, ranklog }) =>
      table(title, [...rows, { name: '**ranklog**', count: ranklog.count }]),
    );
    const tables = (await Promise.all(all)).join('\n\n');
    const docs = readFileSync(DOCS, 'utf8');
    if (process.env[REWRITE] === '1')
      writeFileSync(
        DOCS,
        docs.replace(MARKS, () => tables),
      );
    else expect(MARKS.exec(docs)?.[0]).toBe(tables);
  });
});

describe('a recipe of score and time', () => {
  const ticks = Array.from({ length: 2_000 }, (_, index) => index);
  const distinguishes = ({ tick, scoreOf }: TimeRecipe, score: number) => {
    const last = Math.floor(END / tick);
    const scores = ticks.map((before) => Number(scoreOf(score, last - before)));
    return scores.every((each, index) => index === 0 || each > (scores[index - 1] ?? NaN));
  };

  it.each(timeRecipes.map((recipe) => [recipe.name, recipe] as const))(
    '%s: distinguishes any two ticks at its limit, but not at the next score',
    (_, recipe) => {
      expect(distinguishes(recipe, recipe.holdsTo)).toBe(true);
      expect(distinguishes(recipe, recipe.holdsTo + 1)).toBe(false);
    },
  );
});
