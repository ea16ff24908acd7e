import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { DefinitionRecord } from '#contracts';
import { ContinuityStore, GenerationCatalog, type LiveBoard, type Promoted } from '#board-store';
import { arena, movements, pointTo, scored, StoreFixture } from './fixture.js';
import { dumpKeys, interceptedClient, openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

const other = { ...arena, board: 'other', publish: { ...arena.publish, leaders: 3 } };
const FAR = 9_000_000_000_000_000; // µs: later than any clock

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = new StoreFixture(redis, newKeys());
  await fixture.store.claim();
});

const current = (...records: readonly (Partial<DefinitionRecord> & { board: string })[]) =>
  new Map(
    records.map((record) => [
      record.board,
      { generation: '1', since: FAR, definition: { ...arena, board: record.board }, ...record },
    ]),
  );
const promotions = () => fixture.store.promotions();
/**
 * Registers boards, and resyncs their shard with Kafka, so that events can be applied to those that
 * are live.
 */
const register = async (...args: Parameters<typeof fixture.store.registerBoards>) => {
  const boards = await fixture.store.registerBoards(...args);
  await fixture.compare();
  const [live] = boards.live.values();
  if (live !== undefined) fixture.live = live;
  return boards;
};

describe('registering', () => {
  it('stores when the pointer of each board moved, and changes that time only when the pointer moves again', async () => {
    const before = Date.now() * 1_000;
    await register([arena]);
    const first = await promotions();
    expect(first.get('arena')).toBeGreaterThanOrEqual(before - 1_000);
    await register([arena, other]);
    expect((await promotions()).get('arena')).toBe(first.get('arena'));
    expect([...(await promotions()).keys()]).toEqual(['arena', 'other']);
  });

  it('stores a later time than the definition record has, even if the clock of the server is behind', async () => {
    await register([arena], current({ board: 'arena' }));
    expect(await promotions()).toEqual(new Map([['arena', FAR + 1]]));
  });

  it('stores no time for a board without a generation', async () => {
    await register([arena]);
    await fixture.apply([scored('a', [1])]);
    await register([arena, other]);
    expect([...(await promotions()).keys()]).toEqual(['arena']);
  });

  it('stores the missing time of a live board, unless Kafka has a definition record of the board', async () => {
    await register([arena]);
    await redis.del(fixture.keys.promotions(0));
    await register([arena], current({ board: 'arena' }));
    expect((await promotions()).size).toBe(0);
    await register([arena]);
    expect((await promotions()).get('arena')).toBeGreaterThan(0);
  });

  it('stores the start offsets of a board', async () => {
    const starts = new Map([[0, 12], [3, 1]]); // prettier-ignore
    const { live } = await register([arena, other], current({ board: 'arena', starts }));
    expect(live.get('arena')?.starts).toEqual(starts);
    expect(live.get('other')).not.toHaveProperty('starts');
  });

  it('lets a board wait whose definition is unknown, and leaves it as it is if it is live', async () => {
    const { live } = await register([arena]);
    const boards = await register([], new Map(), new Map(), ['arena', 'other']);
    expect(boards.live).toEqual(live);
    expect(boards.building).toEqual(new Set(['other']));
    expect([...(await promotions()).keys()]).toEqual(['arena']);
  });

  it('knows removed boards until they are registered again', async () => {
    const removed = current({ board: 'other', definition: null });
    expect((await register([arena], removed)).removed).toEqual(new Set(['other']));
    expect((await register([arena, other], removed)).removed).toEqual(new Set());
    expect((await register([arena], removed)).removed).toEqual(new Set());
  });
});

describe('a resync of a shard that may have lost the promotion of a board', () => {
  let boards: ReadonlyMap<string, LiveBoard>;
  beforeEach(async () => {
    boards = (await register([other, arena])).live;
    fixture.live = boards.get('other')!;
    await fixture.apply([scored('a', [1]), scored('b', [2])], {
      boards,
      published: 1,
      lastRecord: { offset: 1, timestamp: 1, hash: 'h' },
    });
    await redis.hset(fixture.keys.previous(0), 'arena', 'p 1');
    await redis.hset(fixture.keys.shadows(0), 'arena', 's build');
    await redis.hset(fixture.keys.definitions(0), { p: '{}', s: '{}', kept: '{}' });
    await redis.hset(fixture.keys.snapshots(0), 'kept', 'arena');
  });

  const recover = async (known: ReadonlyMap<string, Promoted>) => {
    const { continuity } = fixture;
    const begun = (await continuity.beginResync(0, await continuity.continuity(0)))!;
    const recovered = await continuity.endResync(
      0,
      begun,
      new Map([
        [0, 1],
        [1, 0],
      ]),
      known,
    );
    await continuity.release(begun);
    fixture.token = recovered?.token ?? '';
    return recovered?.outdated;
  };
  const names = async () =>
    Object.keys(await dumpKeys(redis, fixture.keys))
      .map((key) => key.split('}:')[1])
      .filter((name) => name !== undefined);

  it('leaves what recovery needs and the snapshots if the promotion is lost, and discards all other generations of the shard', async () => {
    expect(await recover(current({ board: 'arena' }))).toEqual(['arena']);
    const generations = [...boards.values()].map(({ generation }) => generation);
    expect((await names()).filter((name) => !generations.some((id) => name.startsWith(id))).sort()).toEqual([
      'continuity', 'definitions', 'emptied', 'live', 'published', 'recovery-targets', 'snapshots',
    ]); // prettier-ignore
    expect((await redis.hkeys(fixture.keys.emptied(0))).sort()).toEqual(
      [...generations, 'p', 's'].sort(),
    );
    expect(await redis.hgetall(fixture.keys.definitions(0))).toEqual({ kept: '{}' });
    expect(await fixture.continuity.recoveryTargets()).toEqual([
      { shard: 0, partition: 0, target: 1, applied: 0 },
    ]);
  });

  it('frees the generations of a shard that was emptied twice, and keeps the snapshots', async () => {
    await recover(current({ board: 'arena' }));
    await register([arena], current({ board: 'arena' }));
    await recover(current({ board: 'arena', since: FAR + 9 }));
    const catalog = new GenerationCatalog(redis, fixture.keys, { shards: 1 });
    while ((await catalog.sweep()) > 0);
    expect((await names()).sort()).toEqual([
      'continuity', 'definitions', 'live', 'published', 'recovery-targets', 'snapshots',
    ]); // prettier-ignore
    expect(await redis.hkeys(fixture.keys.definitions(0))).toEqual(['kept']);
  });

  it('makes a shard that lost it recover like an empty one: muted below the published position, then every result once', async () => {
    await recover(current({ board: 'arena' }));
    boards = (await fixture.store.registerBoards([other, arena], current({ board: 'arena' }))).live;
    fixture.live = boards.get('other')!;
    expect(await fixture.apply([scored('a', [1])], { boards, published: 1 })).toEqual([]);
    const verdicts = await fixture.apply([scored('b', [2])], { boards, from: 1, published: 1 });
    expect(movements(verdicts)).toEqual(['- -> 1 (1)', 'top 2']);
    expect(verdicts.map(({ offset }) => offset)).toEqual([1, 1]);
  });

  type Row = [string, ReadonlyMap<string, Promoted>, () => Promise<unknown>];
  const nothing = () => Promise.resolve();

  it.each<Row>([
    ['has a later promotion in Kafka', current({ board: 'arena' }), nothing],
    [
      'lacks its promotion in Redis',
      current({ board: 'arena', since: 1 }),
      () => redis.del(fixture.keys.promotions(0)),
    ],
    ['is missing', current({ board: 'new' }), nothing],
    [
      'is still being built',
      current({ board: 'new' }),
      () => redis.hset(fixture.keys.live(0), 'new', '-'),
    ],
    [
      'has a later promotion in Kafka whose definition is unknown',
      new Map([['arena', { since: FAR }]]),
      nothing,
    ],
    ['is live although it was removed', current({ board: 'arena', definition: null }), nothing],
  ])('empties the shard because a board %s', async (_, known, prepare) => {
    await prepare();
    const { versions } = await fixture.store.boards();
    expect(await recover(known)).toHaveLength(1);
    expect(await redis.exists(fixture.keys.registered(0))).toBe(0);
    const boards = await fixture.store.boards();
    expect(boards).toMatchObject({ live: new Map(), building: new Set(), removed: new Set() });
    expect(parseInt(boards.versions[0]!)).toBeGreaterThan(parseInt(versions[0]!));
  });

  it.each<Row>([
    ['knows the promotion', current({ board: 'arena', since: 1 }), nothing],
    [
      'was emptied',
      current({ board: 'arena' }),
      () => redis.del(fixture.keys.live(0), fixture.keys.registered(0), fixture.keys.promotions(0)),
    ],
    ['lacks a board that was removed', current({ board: 'gone', definition: null }), nothing],
    [
      'builds a board that was removed',
      current({ board: 'gone', definition: null }),
      () => redis.hset(fixture.keys.live(0), 'gone', '-'),
    ],
    ['has a board that Kafka does not know', current(), nothing],
  ])('keeps the shard if it %s', async (_, known, prepare) => {
    await prepare();
    const before = await names();
    expect(await recover(known)).toEqual([]);
    expect(await names()).toEqual(before);
  });

  it('changes nothing if the shard got a board after the caller had read the boards', async () => {
    const { continuity } = fixture;
    const begun = (await continuity.beginResync(0, await continuity.continuity(0)))!;
    const late = interceptedClient(redis, /^hmget$/, async (run) => {
      const found = await run();
      await pointTo(redis, fixture.keys.live(0), 'late', '-');
      return found;
    });
    const store = new ContinuityStore(late, fixture.keys, { shards: 1 });
    expect(await store.endResync(0, begun, new Map(), current({ board: 'arena' }))).toBeUndefined();
    expect(await redis.exists(fixture.keys.registered(0))).toBe(1);
  });

  it('deletes no leader reports once another process has taken the resync over', async () => {
    const { continuity, keys } = fixture;
    const begun = (await continuity.beginResync(0, await continuity.continuity(0)))!;
    await continuity.release(begun);
    await continuity.beginResync(0, await continuity.continuity(0));
    const known = current({ board: 'arena' });
    expect(await redis.exists(keys.leaders(0, 'other'))).toBe(1);
    expect(await continuity.endResync(0, begun, new Map(), known)).toBeUndefined();
    expect(await redis.exists(keys.leaders(0, 'other'))).toBe(1);
  });
});
