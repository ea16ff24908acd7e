import { afterAll, describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import fc from 'fast-check';
import { parseBoardsFile, sortDirection } from '#board';
import { BoardReader } from '#nestjs';
import { RanklogTestingModule } from '#nestjs/testing';
import { runs, PROPERTY_TIMEOUT } from '../model/arbitrary.js';
import { scored, StoreFixture, T0 } from './fixture.js';
import { openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

interface Given {
  readonly ties: 'earliest' | 'latest' | 'none';
  readonly orders: readonly ('asc' | 'desc')[];
  /** A score for each column, and how long after T0 it was reached. */
  readonly players: readonly (readonly [first: number, second: number, later: number])[];
}

const order = fc.constantFrom('asc' as const, 'desc' as const);
const few = fc.integer({ min: -3, max: 3 });
const boards = fc.record({
  ties: fc.constantFrom('earliest' as const, 'latest' as const, 'none' as const),
  orders: fc.array(order, { minLength: 1, maxLength: 2 }),
  players: fc.array(fc.tuple(few, few, fc.nat(2)), { maxLength: 12 }),
});
const small = fc.integer({ min: 1, max: 14 });
const asked = fc.record({ small, other: small, score: few, most: fc.nat(4) });

const idOf = (index: number) => `p${String(index)}${['', '.x+(', 'x', '|$'][index % 4] ?? ''}`;

function textOf({ ties, orders }: Given): string {
  const columns = orders.map((of, index) => `{ name: c${index}, order: ${of}, update: best }`);
  return `boards: { arena: { columns: [${columns.join(', ')}], ties: ${ties} } }`;
}

function scoresOf({ orders }: Given, scores: readonly number[]): Record<string, number> {
  return Object.fromEntries(orders.map((_, index) => [`c${index}`, scores[index] ?? 0]));
}

/** A reader of Redis that has applied an event for each player. */
async function realReader(given: Given): Promise<BoardReader> {
  const [definition] = parseBoardsFile(textOf(given), 'boards');
  const fixture = await new StoreFixture(redis, newKeys()).register(definition!);
  const events = given.players.map(([first, second, later], index) => {
    const scores = [first, second].slice(0, given.orders.length);
    const values = scores.map((score, at) => sortDirection({ order: given.orders[at]! }, score));
    return scored(idOf(index), [], { values, occurredAt: T0 + later });
  });
  if (events.length > 0) await fixture.apply(events);
  return fixture.reader();
}

/** A reader of the same standings in memory. */
async function memoryReader(given: Given): Promise<BoardReader> {
  const ranklog = new RanklogTestingModule({ boards: textOf(given) });
  const players = given.players.map(([first, second, later], index) => ({
    playerId: idOf(index),
    score: scoresOf(given, [first, second]),
    reachedAt: new Date(T0 + later).toISOString(),
  }));
  ranklog.setStandings('arena', players);
  const app = await Test.createTestingModule({ imports: [ranklog.module] }).compile();
  return app.get(BoardReader);
}

type Asked = { small: number; other: number; score: number; most: number };

/** Every question on a view, as a list of answers. */
async function answers(reader: BoardReader, given: Given, numbers: Asked): Promise<unknown[]> {
  const { small: n, other, score, most } = numbers;
  const id = idOf(n);
  const page = await reader.standings('arena', { limit: n });
  const next =
    page.next === undefined ? page : await reader.standings('arena', { after: page.next });
  const range = { min: Math.min(score, most), max: Math.max(score, most) };
  const few = await reader.standings('arena', { scores: range, limit: 1 });
  const behind =
    few.next === undefined ? few : await reader.standings('arena', { after: few.next });
  const all = await Promise.all([
    reader.standings('arena', { from: n, limit: other, dense: true }),
    reader.standings('arena', { scores: range, from: n, limit: other }),
    reader.count('arena', { scores: range }),
    reader.player('arena', id, { gaps: true, dense: true }),
    reader.player('arena', id),
    reader.around('arena', id, { above: most, below: other }),
    reader.players('arena', [id, idOf(other), 'nobody']),
    reader.playerOn(id, [{ board: 'arena' }, { board: 'arena', dense: true }]),
    reader.rankOf('arena', scoresOf(given, [score, most])),
    reader.at('arena', { rank: n }),
    reader.at('arena', { percent: n * 7 }),
    reader.histogram('arena', { buckets: other }),
    reader.search('arena', ['P1', '.x', '+(', 'p|', '$'][n % 5] ?? ''),
    reader.isStale('arena'),
    reader.placesOfEvent({ board: 'arena', playerId: id, deltas: scoresOf(given, [1, 1]) }),
  ]);
  const exported = [];
  for await (const { entries } of reader.export('arena')) exported.push(...entries);
  return [page, next, few, behind, ...all, exported];
}

/** The answers of a Redis in which other numbers of events made the views. */
function comparable(found: unknown): unknown {
  return JSON.parse(
    JSON.stringify(found, (key, value: unknown) => (key === 'version' ? undefined : value)),
  ) as unknown;
}

describe('the reader of RanklogTestingModule', () => {
  it(
    'answers each question as Redis does',
    async () => {
      await fc.assert(
        fc.asyncProperty(boards, asked, async (given, numbers) => {
          const [real, memory] = await Promise.all([realReader(given), memoryReader(given)]);
          expect(comparable(await answers(memory, given, numbers))).toEqual(
            comparable(await answers(real, given, numbers)),
          );
        }),
        runs(60),
      );
    },
    PROPERTY_TIMEOUT,
  );
});
