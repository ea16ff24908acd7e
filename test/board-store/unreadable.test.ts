import { afterAll, describe, expect, it } from '@jest/globals';
import type { BoardDefinition } from '#board';
import { arena, scored, T0 } from './fixture.js';
import { DamagedBoard } from './damaged-board.js';
import { unreadableDamages } from './damages.js';
import { compareGeneration } from '../model/store-comparison.js';
import { dumpKeys, openTestRedis } from './test-redis.js';

const testRedis = openTestRedis();
const { redis, close } = testRedis;
afterAll(close);

const KEEP_MS = 1_000;
/** Everything that a board can keep is kept: clocks, expiries, event ids, leaders. */
const keeping: BoardDefinition = {
  ...arena,
  windows: [{ kind: 'all' }, { kind: 'day', keepMs: KEEP_MS }],
  deduplicateMs: KEEP_MS,
  publish: { ...arena.publish, leaders: 3 },
};
const views = [
  { view: 'all', expiresAt: null, published: true },
  { view: 'day:2026-11-20', expiresAt: T0 + 86_400_000, published: true },
];
const event = (playerId: string, eventId: string) =>
  scored(playerId, [3], { eventId, views, occurredAt: T0 });
const log = [event('a', 'x'), event('b', 'y')];

const make = () => DamagedBoard.make(testRedis, keeping, [log, []]);

describe('what nobody could read on a board', () => {
  it.each(unreadableDamages.map((damage) => [damage.name, damage] as const))(
    'is told by a comparison, and mended by a build: %s',
    async (_, { damage }) => {
      const board = await make();
      await damage(redis, board.place, [0, 0, 0]);
      const differences = await board.differences();
      expect(
        differences.filter(({ kind }) => kind === 'unreadable' || kind === 'clock'),
      ).not.toEqual([]);
      await board.rebuild();
      expect(await board.differences()).toEqual([]);
      await compareGeneration(redis, board.place, board.oracle());
      const verdicts = await board.fixture.apply([event('c', 'z')], { from: 2 });
      expect(verdicts).toMatchObject([
        { kind: 'rankChange' },
        { kind: 'leaderChange' },
        { kind: 'leaderChange' },
      ]);
    },
  );

  it('is told of event ids, too', async () => {
    const board = await make();
    const { keys, live } = board.fixture;
    const eventIds = keys.eventIds(0, live.generation, 0);
    await redis.set(eventIds, 'abc');
    await redis.hset(keys.facts(0, live.generation), 'clock:1', 'abc');
    const found = `${eventIds} is a string, clock:1 of ${keys.facts(0, live.generation)} is abc`;
    expect(await board.differences()).toMatchObject([
      { view: '', kind: 'eventIds', partition: 0, found: 'partition 0: nothing' },
      { view: '', kind: 'unreadable', found },
    ]);
    await board.rebuild();
    expect(await board.differences()).toEqual([]);
  });
});

describe('a call that meets what nobody could read', () => {
  const next = () => [event('c', 'z')];

  it('goes on above all versions that were told, where that of a view is none', async () => {
    const board = await make();
    const { keys, live } = board.fixture;
    const told = 9_000_000_000_000_000;
    await redis.hset(keys.facts(0, live.generation), 'version', told);
    await redis.hset(keys.views(0, live.generation), 'all', 'abc');
    const [change] = await board.fixture.apply(next(), { from: 2 });
    expect(change).toMatchObject({ changes: [{ view: 'all', version: told + 1 }, {}] });
    expect(await redis.hget(keys.views(0, live.generation), 'all')).toBe(String(told + 1));
  });

  it('goes on, and so does a build, from the time where what is kept has no version above it', async () => {
    const board = await make();
    const { fixture } = board;
    const { generation } = fixture.live;
    const most = '9007199254740991';
    await redis.hset(fixture.keys.views(0, generation), 'all', '9500000000000000');
    await redis.hset(fixture.keys.facts(0, generation), 'floor', most, 'version', most);
    const versionOf = async (eventId: string, from: number) => {
      const [change] = await fixture.apply([event('c', eventId)], { from });
      return change?.kind === 'rankChange' ? change.changes[0]!.version : NaN;
    };
    const now = Date.now() * 1_000;
    const first = await versionOf('z', 2);
    const second = await versionOf('zz', 3);
    const all = [...log, event('c', 'z'), event('c', 'zz')];
    await board.rebuild([all, []]);
    const third = await versionOf('zzz', 4);
    expect([now < first, first < second, second < third]).toEqual([true, true, true]);
    expect(third - now).toBeLessThan(60_000_000);
  });

  it('counts anew where a counter is none, and does all else that it has to', async () => {
    const board = await make();
    const { keys, live } = board.fixture;
    const facts = keys.facts(0, live.generation);
    for (const counter of ['duplicates', 'expired', 'tooManyViews'])
      await redis.hset(facts, counter, 'abc');
    const late = scored('d', [1], { views: views.slice(1), occurredAt: T0 });
    const ahead = { ...event('c', 'z'), occurredAt: T0 + 90_000_000, views: views.slice(0, 1) };
    const verdicts = await board.fixture.apply([log[0]!, ahead, late], { from: 2 });
    expect(verdicts.map(({ kind }) => kind)).toEqual(['rankChange', 'leaderChange', 'deadLetter']);
    expect(await redis.hmget(facts, 'duplicates', 'expired')).toEqual(['1', '1']);
  });

  it('reports the top as if it was the first time, where the last report is none', async () => {
    const board = await make();
    await redis.hset(board.fixture.keys.leaders(0, 'arena'), 'all', 'abc');
    const verdicts = await board.fixture.apply(next(), { from: 2 });
    const changes = verdicts.filter((verdict) => verdict.kind === 'leaderChange');
    expect(changes.map(({ view, since, before }) => [view, since === null, before])).toEqual([
      ['all', true, []],
      ['day:2026-11-20', false, ['a', 'b']],
    ]);
  });

  const keysOf = ({ fixture: { keys, live } }: DamagedBoard) => ({
    ranking: keys.ranking(0, live.generation, 'all'),
    players: keys.players(0, live.generation, 'all'),
    views: keys.views(0, live.generation),
    facts: keys.facts(0, live.generation),
    expiries: keys.expiries(0, live.generation),
    eventIds: keys.eventIds(0, live.generation, 0),
    leaders: keys.leaders(0, 'arena'),
  });

  it.each(['ranking', 'players', 'views', 'facts', 'expiries', 'eventIds', 'leaders'] as const)(
    'writes nothing where %s is of another type, and says which key it is',
    async (name) => {
      const board = await make();
      const { [name]: key } = keysOf(board);
      await redis.set(key, 'abc');
      const before = await dumpKeys(redis, board.fixture.keys);
      const applying = board.fixture.apply(next(), { from: 2 });
      await expect(applying).rejects.toThrow(`${key} is damaged (WRONGTYPE`);
      expect(await dumpKeys(redis, board.fixture.keys)).toEqual(before);
    },
  );

  it.each(['players', 'ranking'] as const)(
    'writes nothing where there are %s of a view that is none, and goes on after a build',
    async (name) => {
      const board = await make();
      const { keys, live } = board.fixture;
      const coming = 'day:2026-11-21';
      const key = keys[name](0, live.generation, coming);
      if (name === 'players') await redis.hset(key, 'c', '-999@1');
      else await redis.zadd(key, 1, 'ghost');
      const before = await dumpKeys(redis, keys);
      const later = scored('c', [3], {
        views: [{ view: coming, expiresAt: T0 + 2 * 86_400_000, published: true }],
        occurredAt: T0 + 86_400_000,
        eventId: 'z',
      });
      const apply = () => board.fixture.apply([later], { from: 2 });
      const reason = `${key} is damaged (its view is not in ${keys.views(0, live.generation)})`;
      await expect(apply()).rejects.toThrow(reason);
      expect(await dumpKeys(redis, keys)).toEqual(before);
      await board.rebuild();
      expect(await apply()).toMatchObject([{ kind: 'rankChange' }, { kind: 'leaderChange' }]);
      await compareGeneration(redis, board.place, board.oracle([[...log, later], []]));
    },
  );

  it.each(['clock', 'clock:0'])('writes nothing where the %s is none', async (clock) => {
    const board = await make();
    const { facts } = keysOf(board);
    await redis.hset(facts, clock, 'abc');
    const before = await dumpKeys(redis, board.fixture.keys);
    const applying = board.fixture.apply(next(), { from: 2 });
    await expect(applying).rejects.toThrow(`a clock in ${facts} is damaged: rebuild the board`);
    expect(await dumpKeys(redis, board.fixture.keys)).toEqual(before);
  });
});

describe('a rollback to what nobody could read', () => {
  it('leaves all as it was, and says which key it is', async () => {
    const board = await make();
    const { keys, live } = board.fixture;
    const facts = keys.facts(0, live.generation);
    await redis.set(facts, 'abc');
    await board.rebuild();
    const shadow = await board.generations.bringBack(board.lease);
    const before = await dumpKeys(redis, keys);
    const flip = board.generations.flip(board.lease, shadow, [], { graceMs: 0 });
    await expect(flip).rejects.toThrow(`${facts} is damaged (WRONGTYPE`);
    expect(await dumpKeys(redis, keys)).toEqual(before);
  });
});

describe('a read that meets what nobody could read', () => {
  const page = (board: DamagedBoard, view = 'all') =>
    board.fixture.reader().standings('arena', view, { offset: 0, limit: 9 });

  it.each<[string, (board: DamagedBoard) => Promise<unknown>]>([
    [
      'version of the view',
      ({ fixture: { keys, live } }) => redis.hset(keys.views(0, live.generation), 'all', 'abc'),
    ],
    [
      'floor',
      ({ fixture: { keys, live } }) => redis.hset(keys.facts(0, live.generation), 'floor', 'abc'),
    ],
  ])('tells right ranks, and a version in between, without the %s', async (_, damage) => {
    const board = await make();
    await board.rebuild();
    const before = await page(board);
    await damage(board);
    const found = await page(board);
    expect(found).toEqual({ ...before, version: expect.any(Number) });
    expect(found.version).toBeGreaterThan(before.version);
    expect(await board.fixture.reader().rank('arena', 'all', 'b')).toMatchObject({ size: 2 });
    const [change] = await board.fixture.apply([event('c', 'z')], { from: 2 });
    const version = change?.kind === 'rankChange' ? change.changes[0]!.version : 0;
    expect(version).toBeGreaterThan(found.version);
  });

  it('lists no views by a clock or a version that is none, and says which it is', async () => {
    const board = await make();
    const { keys, live } = board.fixture;
    const reader = board.fixture.reader();
    const [facts, list] = [keys.facts(0, live.generation), keys.views(0, live.generation)];
    await redis.hset(list, 'all', 'abc');
    await expect(reader.views('arena')).rejects.toThrow(
      `the version of view "all" in ${list} is damaged: rebuild the board`,
    );
    await redis.hset(facts, { clock: 'abc', expired: 'abc', duplicates: 'abc' });
    await expect(reader.views('arena')).rejects.toThrow(`the clock in ${facts} is damaged`);
    expect(await reader.overviews()).toMatchObject([
      { clock: null, expired: 0, duplicates: 0, views: 2 },
    ]);
  });

  it('says which key it is, where one is of another type, or the clock is none', async () => {
    const board = await make();
    const { keys, live } = board.fixture;
    const facts = keys.facts(0, live.generation);
    await redis.hset(facts, 'clock', 'abc');
    const said = `the clock in ${facts} is damaged: rebuild the board`;
    await expect(page(board, 'day:2026-11-20')).rejects.toThrow(said);
    for (const key of keys.ofView(0, live.generation, 'all')) {
      const kept = await redis.dumpBuffer(key);
      await redis.set(key, 'abc');
      await expect(page(board)).rejects.toThrow(`${key} is damaged (WRONGTYPE`);
      await redis.restore(key, 0, kept, 'REPLACE');
    }
    expect(await page(board)).toMatchObject({ size: 2 });
  });
});
