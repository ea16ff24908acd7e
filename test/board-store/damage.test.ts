import { isDeepStrictEqual } from 'node:util';
import { afterAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canExpire, type ResolvedEvent } from '#board';
import { BoardReader } from '#board-store';
import { definitionArbitrary } from '../model/definitions.js';
import { eventArbitrary } from '../model/inputs.js';
import { PROPERTY_TIMEOUT, runs } from '../model/arbitrary.js';
import { compareGeneration } from '../model/store-comparison.js';
import { arena, lasting, scored, stretchOf, T0 } from './fixture.js';
import { DamagedBoard } from './damaged-board.js';
import { boardContent, damages } from './damages.js';
import { openTestRedis } from './test-redis.js';

const testRedis = openTestRedis();
const { redis, close } = testRedis;
afterAll(close);

const PLAYERS = ['a', 'b', 'é', 'a b'];

const scenario = definitionArbitrary('arena').chain((definition) => {
  const log = fc.array(eventArbitrary(definition, PLAYERS), { maxLength: 12, size: 'max' });
  return fc.record({
    definition: fc.constant(definition),
    logs: fc.tuple(log, log),
    damage: fc.constantFrom(...damages),
    choice: fc.array(fc.nat({ max: 1_000 }), { minLength: 3, maxLength: 3 }),
  });
});

describe('damage to a board', () => {
  it(
    'is found if it changes what is read, and a build repairs it',
    async () => {
      let found = 0;
      await fc.assert(
        fc.asyncProperty(scenario, async ({ definition, logs, damage, choice }) => {
          const board = await DamagedBoard.make(testRedis, definition, logs);
          const { place } = board;
          expect(await board.differences()).toEqual([]);
          const before = await boardContent(redis, place);
          await damage.damage(redis, place, choice);
          const after = await boardContent(redis, place);
          const differences = await board.differences();
          expect(differences.length > 0).toBe(!isDeepStrictEqual(before, after));
          if (differences.length > 0) found += 1;
          await board.rebuild();
          expect(await board.differences()).toEqual([]);
          await compareGeneration(redis, board.place, board.oracle());
          const reader = new BoardReader(redis, place.keys);
          for (const view of board.oracle().views('arena').slice(0, 2)) {
            const { entries } = await reader.standings('arena', view, { offset: 0, limit: 100 });
            const expected = board.oracle().standings('arena', view);
            expect(entries).toEqual(expected);
          }
        }),
        runs(60),
      );
      expect(found).toBeGreaterThan(0);
    },
    PROPERTY_TIMEOUT,
  );

  it('is reported player by player among many, without false differences under traffic', async () => {
    const players = Array.from({ length: 1_700 }, (_, index) => `p${index}`);
    const events = players.map((player, index) => scored(player, [index % 50]));
    const board = await DamagedBoard.make(testRedis, arena, [events, []]);
    const { fixture, place } = board;
    const { keys } = fixture;
    const { generation } = fixture.live;
    await redis.hset(keys.players(0, generation, 'all'), 'p7', '-900@1');
    await redis.hdel(keys.players(0, generation, 'all'), 'p900');
    await redis.hset(keys.players(0, generation, 'all'), 'ghost', '-1@1');
    const late: ResolvedEvent[] = [];
    const differences = await board.differences(async () => {
      const next = late.length;
      const moved = scored(players[(next * 37) % 800 + 8]!, [5]); // prettier-ignore
      late.push(moved);
      await fixture.apply([moved], { partition: 1, from: next });
      const all = board.stretches([events, late]);
      return all.map((stretch) =>
        stretch.partition === 1 ? stretch : { ...stretch, entries: [] },
      );
    });
    expect(late.length).toBeGreaterThan(3 * 3);
    const told = new Set(differences.map(({ kind, playerId }) => `${kind} ${playerId}`));
    expect([...told].sort()).toEqual(
      ['columns p7', 'extra ghost', 'missing p900', 'order p7', 'order p900'].sort(),
    );
    expect((await boardContent(redis, place)).views.size).toBe(1);
  });
});

describe('damage among many views', () => {
  it('is reported, with some hundred views a step', async () => {
    const count = 1_000;
    const events = Array.from({ length: count }, (_, index) =>
      scored('a', [1], { views: lasting(`all region=r${index}`) }),
    );
    const board = await DamagedBoard.make(testRedis, arena, [events, []]);
    const { keys, live } = board.fixture;
    await redis.hdel(keys.views(0, live.generation), 'all region=r7');
    await redis.hset(keys.views(0, live.generation), 'all region=nowhere', 1);
    await redis.zadd(keys.expiries(0, live.generation), T0, 'all region=r9');
    const shadow = await board.fixture.begin('verify');
    const { views, differences, largestPage } = await board.compare(shadow);
    expect(views).toBe(count - 1);
    expect(largestPage).toBeLessThan(count / 2);
    expect(differences.sort((a, b) => (a.view < b.view ? -1 : 1))).toEqual([
      { view: 'all region=nowhere', kind: 'view', found: 'never' },
      { view: 'all region=r7', kind: 'view', expected: 'never' },
      { view: 'all region=r9', kind: 'view', expected: 'never', found: String(T0) },
    ]);
  });
});

describe('a view that expires while it is compared', () => {
  it('does not differ, though one generation is swept before the other', async () => {
    const day = { view: 'day:2026-11-20', expiresAt: T0 + 1_000, published: true };
    const windows = [{ kind: 'all' }, { kind: 'day', keepMs: 1_000 }] as const;
    const first = scored('a', [1], { views: [day, ...lasting('all')] });
    const later = scored('a', [1], { occurredAt: T0 + 5_000 });
    const board = await DamagedBoard.make(testRedis, { ...arena, windows }, [[first]]);
    const { fixture } = board;
    const shadow = await fixture.begin('verify');
    let isSwept = false;
    const expire = async () => {
      if (isSwept) return [];
      isSwept = true;
      await fixture.apply([later], { from: 1 });
      expect(await fixture.store.sweep(fixture.live)).toBe(1);
      return [stretchOf([later], { from: 1 })];
    };
    expect(await board.compare(shadow, expire)).toMatchObject({ views: 2, differences: [] });
  });
});

describe('damage to the facts and event ids of a board', () => {
  it('is found if later events depend on it, and a build repairs it: event ids, their clock', async () => {
    const definition = { ...arena, deduplicateMs: 1_000 };
    const first = scored('a', [1], { eventId: 'x' });
    const board = await DamagedBoard.make(testRedis, definition, [[first], []]);
    const { keys, live } = board.fixture;
    await redis.del(keys.eventIds(0, live.generation, 0));
    const expected = `partition 0: 1 ids, up to ${T0} ms`;
    expect(await board.differences()).toEqual([
      {
        view: '',
        kind: 'eventIds',
        partition: 0,
        expected,
        found: `partition 0: 0 ids, up to ${T0} ms`,
      },
    ]);
    await redis.hdel(keys.facts(0, live.generation), 'clock:0');
    expect(await board.differences()).toEqual([
      { view: '', kind: 'eventIds', partition: 0, expected, found: 'partition 0: nothing' },
    ]);
    await board.rebuild();
    await compareGeneration(redis, board.place, board.oracle());
    expect(await board.fixture.apply([first], { from: 1 })).toEqual([]);
  });

  describe('event by event', () => {
    const definition = { ...arena, deduplicateMs: 1_000 };
    const make = async (count: number) => {
      const log = Array.from({ length: count }, (_, index) =>
        scored('a', [1], { eventId: `x${index}` }),
      );
      const board = await DamagedBoard.make(testRedis, definition, [[], log]);
      const ids = board.fixture.keys.eventIds(0, board.fixture.live.generation, 1);
      return { board, ids };
    };
    const differing = (expected: string, found: string) => ({
      ...{ view: '', kind: 'eventIds', partition: 1 },
      ...{ expected: `partition 1: ${expected}`, found: `partition 1: ${found}` },
    });

    it('is found if an id has another time, or is replaced by another id, among many', async () => {
      const { board, ids } = await make(1_500);
      expect(await redis.zadd(ids, 'XX', 'CH', T0 - 500, 'x700\na')).toBe(1);
      expect(await board.differences()).toEqual([
        differing(`"x700" of a at ${T0} ms`, `"x700" of a at ${T0 - 500} ms`),
      ]);
      await redis.zrem(ids, 'x700\na');
      await redis.zadd(ids, T0, 'ghost\na');
      expect(await board.differences()).toEqual([
        differing(`"x700" of a at ${T0} ms`, '"x700" of a not there'),
      ]);
      await board.rebuild();
      expect(await board.differences()).toEqual([]);
    });

    it('of ids older than the span is no difference', async () => {
      const { board, ids } = await make(3);
      const { fixture } = board;
      const shadow = await fixture.begin('verify');
      await fixture.generations.catchUp(fixture.lease, shadow, board.stretches());
      await redis.zadd(ids, T0 - 1_000, 'forgotten late\na');
      const ofShadow = fixture.keys.eventIds(0, shadow.generation, 1);
      await redis.zadd(ofShadow, T0 - 1_000, 'by another batch\na');
      expect((await board.compare(shadow)).differences).toEqual([]);
    });
  });

  it('of counters and versions is no difference', async () => {
    const definition = { ...arena, deduplicateMs: 1_000 };
    const first = scored('a', [1], { eventId: 'x' });
    const board = await DamagedBoard.make(testRedis, definition, [[first], []]);
    const { keys, live } = board.fixture;
    await redis.hset(keys.views(0, live.generation), 'all', 5);
    await redis.hincrby(keys.facts(0, live.generation), 'duplicates', 7);
    expect(canExpire(definition)).toBe(false);
    expect(await board.differences()).toEqual([]);
    await board.rebuild();
    await compareGeneration(redis, board.place, board.oracle());
    expect(await board.fixture.apply([first], { from: 1 })).toEqual([]);
  });
});
