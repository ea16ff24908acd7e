import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { BoardDefinition, ResolvedEvent } from '#board';
import {
  InvalidReadError,
  type BoardReader,
  type PageRequest,
  type Standing,
  type Standings,
} from '#board-store';
import { runs, PROPERTY_TIMEOUT } from '../model/arbitrary.js';
import { arena, scored, StoreFixture, T0 } from './fixture.js';
import { openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

const HOUR = 3_600_000;
const column = arena.columns[0]!;

async function boardOf(definition: BoardDefinition, events: readonly ResolvedEvent[]) {
  const fixture = await new StoreFixture(redis, newKeys()).register(definition);
  if (events.length > 0) await fixture.apply(events);
  return { fixture, reader: fixture.reader() };
}

const idsOf = ({ entries }: { entries: readonly Standing[] }) =>
  entries.map(({ playerId }) => playerId);

describe('a walk by cursor', () => {
  const step = fc.record({ player: fc.nat(29), points: fc.integer({ min: -3, max: 3 }) });
  const walks = fc.record({
    start: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 30 }),
    limit: fc.integer({ min: 1, max: 7 }),
    /** The moves after each page. */
    moves: fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 30 }),
    ties: fc.constantFrom('earliest' as const, 'latest' as const, 'none' as const),
  });

  it(
    'shows a player who does not move exactly once, while others move',
    async () => {
      await fc.assert(
        fc.asyncProperty(walks, async ({ start, limit, moves, ties }) => {
          const { fixture, reader } = await boardOf(
            { ...arena, ties },
            start.map((points, index) => scored(`p${index}`, [points])),
          );
          const moved = new Set<string>();
          const seen: string[] = [];
          let offset = start.length;
          let request: PageRequest | undefined = { limit };
          for (let read = 0; request !== undefined; read += 1) {
            const page: Standings = await reader.standings('arena', request);
            seen.push(...idsOf(page));
            request = page.next === undefined ? undefined : { limit, after: page.next };
            for (const { player, points } of moves[read] ?? []) {
              moved.add(`p${player}`);
              const event = scored(`p${player}`, [points], { occurredAt: T0 + offset });
              await fixture.apply([event], { from: offset++ });
            }
          }
          const still = start.map((_, index) => `p${index}`).filter((id) => !moved.has(id));
          for (const id of still) expect(seen.filter((other) => other === id)).toEqual([id]);
        }),
        runs(40),
      );
    },
    PROPERTY_TIMEOUT,
  );

  it('stays in the view in which it began, when the window is over', async () => {
    const windows = [{ kind: 'day' as const }];
    const events = ['a', 'b', 'c'].map((id, index) =>
      scored(id, [index], {
        views: [{ view: 'day:2026-11-20', expiresAt: null, published: true }],
      }),
    );
    const { reader } = await boardOf({ ...arena, windows }, events);
    const first = await reader.standings('arena', { window: 'day', at: T0, limit: 2 });
    const second = await reader.standings('arena', {
      ...{ window: 'day', at: T0 + 24 * HOUR },
      ...(first.next !== undefined && { after: first.next }),
    });
    expect([first.view, second.view]).toEqual(['day:2026-11-20', 'day:2026-11-20']);
    expect([...idsOf(first), ...idsOf(second)]).toEqual(['c', 'b', 'a']);
    expect(second).not.toHaveProperty('next');
  });
});

describe('a search', () => {
  it('of a large view goes on step by step, and finds each player', async () => {
    const events = Array.from({ length: 4_000 }, (_, index) => scored(`player-${index}`, [index]));
    const { reader } = await boardOf(arena, events);
    const found: string[] = [];
    let steps = 1;
    let page = await reader.search('arena', 'R-12');
    for (; page.next !== undefined; steps += 1) {
      found.push(...idsOf(page));
      page = await reader.search('arena', 'R-12', { after: page.next });
    }
    found.push(...idsOf(page));
    expect(steps).toBeGreaterThan(2);
    const meant = events.map(({ playerId }) => playerId).filter((id) => id.includes('r-12'));
    expect([...new Set(found)].sort()).toEqual(meant.sort());
  });

  it.each(['*', '?', '[a]', '\\', '^', '-'])('takes %j as it is', async (text) => {
    const { reader } = await boardOf(arena, [scored('a', [1]), scored(`x${text}y`, [1])]);
    expect(idsOf(await reader.search('arena', text))).toEqual([`x${text}y`]);
  });
});

describe('an unknown board', () => {
  it('is refused with at most 20 names of others', async () => {
    const { fixture, reader } = await boardOf(arena, []);
    const names = Array.from({ length: 30 }, (_, index) => `board-${index + 10}`);
    await fixture.store.registerBoards(names.map((board) => ({ ...arena, board })));
    for (const name of ['x1', 'x2'])
      await expect(reader.standings(name)).rejects.toThrow(/arena, .*board-28, and 11 more$/);
  });
});

describe('a player on several views', () => {
  it('is answered for each, in the order of the requests', async () => {
    const views = ['all', 'week:2026-W47'].map((view) => {
      return { view, expiresAt: null, published: true };
    });
    const definition = { ...arena, windows: [{ kind: 'all' }, { kind: 'week' }] as const };
    const { reader } = await boardOf(definition, [
      scored('a', [1], { views }),
      scored('b', [2], { views: views.slice(0, 1) }),
    ]);
    const at = { at: T0 };
    const found = await reader.playerOn('a', [
      { board: 'arena', window: 'week', ...at },
      { board: 'arena' },
      { board: 'arena', window: 'week:previous', ...at },
    ]);
    expect(found.map(({ view, standing }) => [view, standing?.rank])).toEqual([
      ['week:2026-W47', 1],
      ['all', 2],
      ['week:2026-W46', undefined],
    ]);
  });
});

describe('a read that asks for what can not be', () => {
  const definition = {
    ...arena,
    columns: [
      { ...column, decimals: 1 },
      { ...column, name: 'time' },
    ],
  };
  const other = Buffer.from('["0","all","1@1","a","",""]').toString('base64url');
  const HUGE = Buffer.from('["all","x","99999999999999999999"]').toString('base64url');
  const cursorOf = async (reader: BoardReader) =>
    (await reader.standings('arena', { limit: 1, scores: { min: 0 } })).next ?? '';
  /** As it may come from a URL. */
  const given = (value: unknown) => value as never;
  const refusals: [string, (reader: BoardReader) => Promise<unknown>, string][] = [
    ['limit', (r) => r.standings('arena', { limit: 1_001 }), 'limit: 1001 is not a whole number from 0 to 1000'],
    ['limit of no whole number', (r) => r.standings('arena', { limit: 1.5 }), 'limit: 1.5'],
    ['from', (r) => r.standings('arena', { from: 0 }), 'from: 0 is not a whole number from 1'],
    ['from and cursor', (r) => r.standings('arena', { from: 2, after: other }), 'after: excludes from'],
    ['cursor', (r) => r.standings('arena', { after: 'x' }), 'after: "x" is not a cursor'],
    ['cursor of another board', (r) => r.standings('arena', { after: other }), 'not of board "arena" as it is now'],
    ['view and window', (r) => r.standings('arena', { view: 'all', window: 'all' }), 'view: excludes window'],
    ['time', (r) => r.standings('arena', { at: NaN }), 'at: NaN is not a time'],
    ['players around', (r) => r.around('arena', 'a', { above: 600, below: 600 }), 'above + 1 + below: 1201'],
    ['no ids', (r) => r.players('arena', []), 'number of players: 0'],
    ['score of one column', (r) => r.rankOf('arena', 5), 'needs a value for each column of board "arena": points, time'],
    ['score of another column', (r) => r.rankOf('arena', { points: 1, time: 1, x: 1 }), 'needs a value'],
    ['decimals', (r) => r.rankOf('arena', { points: '1.25', time: 1 }), 'column "points": "1.25" is not a decimal with at most 1'],
    ['other range than that of the cursor', async (r) => r.standings('arena', { scores: { min: 2 }, after: await cursorOf(r) }), 'scores: differ from those of the page before'],
    ['time in no year', (r) => r.standings('arena', { at: 1e300 }), 'at: 1e+300 is not a time'],
    ['cursor of a search with a number that is too large', (r) => r.search('arena', 'a', { after: HUGE }), 'the cursor is not of this read'],
    ['range', (r) => r.count('arena', { scores: { min: 2, max: 1 } }), 'scores: min 2 is above max 1'],
    ['percent', (r) => r.at('arena', { percent: 0 }), 'percent: 0 is not from 0.0001'],
    ['rank', (r) => r.at('arena', { rank: 0 }), 'rank: 0 is not a whole number'],
    ['buckets', (r) => r.histogram('arena', { buckets: 0 }), 'buckets: 0'],
    ['text', (r) => r.search('arena', ''), 'text: is empty'],
    ['limit that is a text', (r) => r.standings('arena', given({ limit: '10' })), 'limit: "10" is not a whole number'],
    ['list of boards', (r) => r.standings(given(['arena', 'arena'])), 'board: ["arena","arena"] is no text'],
    ['list of windows', (r) => r.standings('arena', given({ window: ['day', 'week'] })), 'window: ["day","week"] is no text'],
    ['list of views', (r) => r.standings('arena', given({ view: ['all'] })), 'view: ["all"] is no text'],
    ['list of values', (r) => r.standings('arena', { where: { a: given(['x', 'y']) } }), 'where.a: ["x","y"] is no text'],
    ['number as value', (r) => r.standings('arena', { where: { a: given(5) } }), 'where.a: 5 is no text'],
    ['text as where', (r) => r.standings('arena', { where: given('eu') }), 'where: "eu" is no object'],
    ['list as cursor', (r) => r.standings('arena', { after: given(['x']) }), 'after: ["x"] is not a cursor'],
    ['list of texts', (r) => r.search('arena', given(['a', 'b'])), 'text: ["a","b"] is no text'],
    ['list of ids', (r) => r.player('arena', given(['a', 'b'])), 'player: ["a","b"] is no id'],
    ['text as ids', (r) => r.players('arena', given('a,b')), 'playerIds: "a,b" is no list'],
    ['text as requests', (r) => r.playerOn('a', given('arena')), 'requests: "arena" is no list'],
    ['percent that is a text', (r) => r.at('arena', { percent: given('1') }), 'percent: "1" is not from 0.0001'],
    ['cursor of a page', (r) => r.search('arena', 'a', { after: other }), 'is not a cursor'],
  ]; // prettier-ignore

  it.each(refusals)('is refused: %s', async (_, read, message) => {
    const { reader } = await boardOf(definition, [scored('a', [1, 1]), scored('b', [1, 2])]);
    const refused = await read(reader).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(InvalidReadError);
    expect((refused as Error).message).toContain(message);
  });

  it('with the cursor of a search on another server is refused', async () => {
    const { reader } = await boardOf(arena, [scored('a', [1])]);
    const after = Buffer.from('["all","another","17"]').toString('base64url');
    await expect(reader.search('arena', 'a', { after })).rejects.toThrow(/another Redis server/);
  });
});
