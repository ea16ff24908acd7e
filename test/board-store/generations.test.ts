import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { BoardDefinition, ResolvedEvent } from '#board';
import {
  BoardReader,
  GenerationStore,
  LeaseHeldError,
  LeaseLostError,
  NoPreviousGenerationError,
  type GenerationCatalog,
  type Lease,
  type LeaseStore,
  type Shadow,
} from '#board-store';
import { arena, movements, scored, stretchOf } from './fixture.js';
import { endingOf, GenerationFixture } from './generation-fixture.js';
import { dumpKeys, openTestRedis } from './test-redis.js';

const testRedis = openTestRedis();
const { redis, close } = testRedis;
afterAll(close);

const ascending: BoardDefinition = {
  ...arena,
  columns: arena.columns.map((column) => ({ ...column, order: 'asc' as const })),
};

let fixture: GenerationFixture;
let leases: LeaseStore;
let generations: GenerationStore;
let catalog: GenerationCatalog;
let lease: Lease;

async function open(definition = arena): Promise<void> {
  fixture = await GenerationFixture.make(testRedis, { definition, events: [] });
  ({ leases, generations, catalog, lease } = fixture);
}
beforeEach(() => open());

/** Events of the ascending board: its values have the other sign. */
function turned(events: readonly ResolvedEvent[]): ResolvedEvent[] {
  return events.map((event) => ({
    ...event,
    values: event.values.map((value) => 0 - (value ?? 0)),
  }));
}

async function top(generation?: string): Promise<string[]> {
  const reader = new BoardReader(redis, fixture.keys, generation);
  const { entries } = await reader.standings('arena', 'all', { offset: 0, limit: 10 });
  return entries.map(({ playerId, columns }) => `${playerId} ${columns['points'] ?? ''}`);
}

const built = (definition: BoardDefinition, events: readonly ResolvedEvent[]) =>
  fixture.build(events, { definition });
const promote: GenerationFixture['promote'] = (...args) => fixture.promote(...args);

const events = [scored('a', [3]), scored('b', [5]), scored('c', [1])];

describe('a build', () => {
  it('is read only after its promotion', async () => {
    await fixture.apply(events);
    const shadow = await built(ascending, turned(events));
    expect(await top()).toEqual(['b 5', 'a 3', 'c 1']);
    const { since, previous } = endingOf(await promote(shadow));
    expect(await top()).toEqual(['c 1', 'a 3', 'b 5']);
    expect(previous).toBe(fixture.live.generation);
    expect(await redis.hget(fixture.keys.promotions(0), 'arena')).toBe(String(since));
    expect((await fixture.readLive()).generation).toBe(shadow.generation);
    expect(endingOf(await promote(shadow))).toEqual({ since });
  });

  it('never passes the live applied offset, and is promoted only when it has reached it', async () => {
    await fixture.apply(events.slice(0, 2));
    const shadow = await fixture.begin();
    const ahead = await generations.catchUp(lease, shadow, [stretchOf(events)]);
    expect(ahead).toEqual({
      status: 'applied',
      appliedOffsets: new Map([[0, { shadow: 1, live: 1 }]]),
    });
    await fixture.apply([events[2]!], { from: 2 });
    const late = await promote(shadow, []);
    expect(late).toEqual({
      status: 'applied',
      appliedOffsets: new Map([[0, { shadow: 1, live: 2 }]]),
    });
    expect(await redis.hget(fixture.keys.live(0), 'arena')).toBe(fixture.live.generation);
    endingOf(await promote(shadow, [stretchOf(events)]));
    expect(await top()).toEqual(['b 5', 'a 3', 'c 1']);
  });

  it('applies the stretches of all partitions in one step, each up to the live applied offset', async () => {
    await fixture.apply(events);
    await fixture.apply(events.slice(0, 1), { partition: 1 });
    const shadow = await fixture.begin();
    const both = [stretchOf(events), stretchOf(events, { partition: 1 })];
    const outcome = await promote(shadow, both);
    endingOf(outcome);
    expect(await top()).toEqual(['a 6', 'b 5', 'c 1']);
    expect(outcome).toMatchObject({
      appliedOffsets: new Map([
        [0, { shadow: 2, live: 2 }],
        [1, { shadow: 0, live: 0 }],
      ]),
    });
  });

  it('publishes nothing, and keeps the reports of the live board', async () => {
    const leaders = { ...arena, publish: { ...arena.publish, leaders: 2 } };
    await open(leaders);
    await fixture.apply(events);
    const before = await dumpKeys(redis, fixture.keys);
    const shadow = await built(leaders, events);
    const after = await dumpKeys(redis, fixture.keys);
    for (const key of [fixture.keys.leaders(0, 'arena'), fixture.keys.outbox(0, 0)])
      expect(after[key]).toEqual(before[key]);
    endingOf(await promote(shadow));
    await fixture.readLive();
    const verdicts = await fixture.apply([scored('c', [9])], { from: 3 });
    expect(movements(verdicts)).toEqual(['3 (3) -> 1 (1)', 'top 2']);
  });

  it('makes earlier live calls read the boards again, and ranks continue from there', async () => {
    await fixture.apply(events);
    const shadow = await built(ascending, turned(events));
    endingOf(await promote(shadow));
    const late = fixture.call([scored('a', [1])], { from: 3 });
    expect(await fixture.store.apply(late)).toEqual({ status: 'generationChanged' });
    await fixture.readLive();
    const verdicts = await fixture.apply(turned([scored('a', [9])]), { from: 3 });
    expect(movements(verdicts)).toEqual(['2 (2) -> 3 (3)']);
  });

  it('of a board that is removed or unregistered makes calls read the boards again', async () => {
    await fixture.store.registerBoards([arena, { ...arena, board: 'new' }]);
    await fixture.apply(events);
    await fixture.store.registerBoards([{ ...arena, board: 'late' }]);
    for (const [board, end] of [
      ['new', 'remove'],
      ['late', 'unregister'],
    ] as const) {
      await fixture.refresh();
      await generations[end](await leases.acquire(board, 'test'));
      const call = fixture.call([], { from: 3 });
      expect(await fixture.store.apply(call)).toEqual({ status: 'generationChanged' });
    }
  });

  it('shows larger view versions after its promotion, also of unchanged views', async () => {
    await fixture.apply(events.slice(0, 2));
    await redis.hset(fixture.keys.views(0, fixture.live.generation), 'all', '8999999999999999');
    await fixture.apply([events[2]!], { from: 2 });
    const shadow = await built(arena, events);
    const version = async () =>
      (await fixture.reader().standings('arena', 'all', { offset: 0, limit: 1 })).version;
    expect(await version()).toBe(9_000_000_000_000_000);
    endingOf(await promote(shadow));
    expect(await version()).toBeGreaterThanOrEqual(9_000_000_000_000_000);
    await fixture.readLive();
    await fixture.apply([scored('a', [1])], { from: 3 });
    expect(await version()).toBeGreaterThan(9_000_000_000_000_000);
  });

  it('of a new board makes it live', async () => {
    await fixture.apply(events);
    const { building } = await fixture.store.registerBoards([{ ...arena, board: 'late' }]);
    expect([...building]).toEqual(['late']);
    const other = await leases.acquire('late', 'test');
    const shadow = await generations.begin(other, {
      definition: { ...arena, board: 'late' },
      purpose: 'build',
    });
    const empty = { ...stretchOf([]), through: 2 };
    const ending = endingOf(await generations.promote(other, shadow, [empty], { graceMs: 0 }));
    expect(ending.previous).toBeUndefined();
    expect([...(await fixture.store.boards()).live.keys()].sort()).toEqual(['arena', 'late']);
  });

  it('begins at its start offsets', async () => {
    await fixture.apply(events);
    const starts = new Map([[0, 2]]);
    const shadow = await generations.begin(lease, { definition: arena, purpose: 'build', starts });
    endingOf(await promote(shadow, [stretchOf(events, { from: 0 })]));
    expect(await top()).toEqual(['c 1']);
    expect(await fixture.readLive()).toEqual({ ...shadow, purpose: undefined, starts });
    expect(await catalog.generations()).toMatchObject([
      { role: 'live', starts },
      { role: 'previous' },
    ]);
  });

  it('may begin beyond the live applied offset', async () => {
    await fixture.apply(events.slice(0, 1));
    const starts = new Map([[0, 2]]);
    const shadow = await generations.begin(lease, { definition: arena, purpose: 'build', starts });
    const outcome = await promote(shadow, [stretchOf(events)]);
    endingOf(outcome);
    expect(outcome).toMatchObject({ appliedOffsets: new Map([[0, { shadow: 1, live: 0 }]]) });
    expect(await top()).toEqual([]);
    await fixture.readLive();
    await fixture.apply([], { from: 1, through: 1 });
    await fixture.apply([events[2]!], { from: 2 });
    expect(await top()).toEqual(['c 1']);
  });

  it('discards the generation before the previous one, with all its memory', async () => {
    await fixture.apply(events);
    const first = fixture.live.generation;
    endingOf(await promote(await built(arena, events)));
    endingOf(await promote(await built(arena, events)));
    await fixture.sweep();
    const keys = Object.keys(await dumpKeys(redis, fixture.keys));
    expect(keys.filter((key) => key.includes(first))).toEqual([]);
    expect(await redis.hexists(fixture.keys.definitions(0), first)).toBe(0);
  });

  it('makes a removed board live again', async () => {
    await fixture.apply(events);
    await generations.remove(lease);
    endingOf(await promote(await built(arena, events)));
    const { live: boards, removed } = await fixture.store.boards();
    expect([[...boards.keys()], removed.size]).toEqual([['arena'], 0]);
  });
});

describe('a shadow', () => {
  it('refuses a stretch that begins after a gap', async () => {
    await fixture.apply(events);
    const shadow = await fixture.begin();
    const outcome = await generations.catchUp(lease, shadow, [
      stretchOf(events.slice(1), { from: 1 }),
    ]);
    expect(outcome).toEqual({ status: 'gap' });
  });

  it('applies nothing of a call with a gap in one of its stretches', async () => {
    await fixture.apply(events);
    await fixture.apply(events, { partition: 1 });
    const shadow = await fixture.begin();
    const holed = stretchOf(events.slice(1), { from: 1, partition: 1 });
    const outcome = await generations.catchUp(lease, shadow, [stretchOf(events), holed]);
    expect(outcome).toEqual({ status: 'gap' });
    expect(await generations.shadowAppliedOffsets(shadow)).toEqual(new Map());
  });

  it('is found again with its applied offsets', async () => {
    await fixture.apply(events);
    const shadow = await built(ascending, turned(events.slice(0, 2)));
    expect(await generations.shadow('arena')).toEqual(shadow);
    expect(await generations.shadowAppliedOffsets(shadow)).toEqual(new Map([[0, 1]]));
    const again = await generations.catchUp(lease, shadow, [stretchOf(turned(events))]);
    expect(again).toMatchObject({ appliedOffsets: new Map([[0, { shadow: 2, live: 2 }]]) });
    endingOf(await promote(shadow));
    expect(await top()).toEqual(['c 1', 'a 3', 'b 5']);
  });

  it('is written only by the holder of the lease', async () => {
    await fixture.apply(events);
    const shadow = await built(arena, events.slice(0, 1));
    await expect(leases.acquire('arena', 'other')).rejects.toThrow(LeaseHeldError);
    await redis.del(fixture.keys.lease(0, 'arena'));
    const other = await leases.acquire('arena', 'other');
    expect(await generations.catchUp(lease, shadow, [stretchOf(events)])).toEqual({
      status: 'leaseLost',
    });
    expect(await promote(shadow, [stretchOf(events)])).toEqual({
      status: 'leaseLost',
    });
    for (const write of [
      () => generations.discard(lease, shadow),
      () => fixture.begin(),
      () => generations.beginRollback(lease),
      () => generations.keepAsSnapshot(lease, shadow),
      () => generations.remove(lease),
      () => leases.renew(lease),
    ])
      await expect(write()).rejects.toThrow(LeaseLostError);
    await leases.release(lease);
    await leases.renew(other);
    expect(await generations.shadowAppliedOffsets(shadow)).toEqual(new Map([[0, 0]]));
  });

  it('leaves no key when it is discarded', async () => {
    await fixture.apply(events);
    await leases.release(lease);
    const before = await dumpKeys(redis, fixture.keys);
    await fixture.acquire();
    ({ lease } = fixture);
    const shadow = await built(arena, events);
    await generations.discard(lease, shadow);
    expect(await generations.catchUp(lease, shadow, [])).toEqual({ status: 'shadowGone' });
    await leases.release(lease);
    await fixture.sweep();
    expect(await dumpKeys(redis, fixture.keys)).toEqual(before);
  });

  it('with very many views leaves no key either', async () => {
    const shadow = await built(arena, []);
    const views = Array.from({ length: 5_000 }, (_, number) => `day:2026-11-20 region=${number}`);
    await redis.hset(
      fixture.keys.views(0, shadow.generation),
      views.flatMap((view) => [view, 1]),
    );
    for (const view of views.slice(-3))
      await redis.hset(fixture.keys.players(0, shadow.generation, view), 'a', '1@1');
    expect((await fixture.keysOf(shadow)).length).toBeGreaterThan(3);
    await generations.discard(lease, shadow);
    await fixture.sweep();
    expect(await fixture.keysOf(shadow)).toEqual([]);
  });

  it('is freed with its event ids, also if the shard has lost its applied offsets', async () => {
    const deduplicating = { ...arena, deduplicateMs: 60_000 };
    await fixture.apply(events);
    const known = events.map((event, index) => ({ ...event, eventId: `e${index}` }));
    const shadow = await built(deduplicating, known);
    const eventIds = fixture.keys.eventIds(0, shadow.generation, 0);
    expect(await redis.zcard(eventIds)).toBe(3);
    await generations.discard(lease, shadow);
    await redis.del(fixture.keys.appliedOffsets(0));
    await fixture.sweep();
    expect(await fixture.keysOf(shadow)).toEqual([]);
  });

  it('is replaced by a later shadow', async () => {
    const first = await fixture.begin();
    const second = await generations.begin(lease, { definition: arena, purpose: 'verify' });
    expect(await generations.catchUp(lease, first, [])).toEqual({ status: 'shadowGone' });
    expect(await generations.shadow('arena')).toEqual(second);
    await generations.discard(lease, first);
    await expect(generations.keepAsSnapshot(lease, first)).rejects.toThrow(LeaseLostError);
    expect(await generations.shadow('arena')).toEqual(second);
  });
});

describe('a rollback', () => {
  it('makes the previous generation live with the events since, and a second one rolls forward', async () => {
    await fixture.apply(events);
    endingOf(await promote(await built(ascending, turned(events))));
    await fixture.readLive();
    const since = scored('c', [7]);
    await fixture.apply(turned([since]), { from: 3 });
    expect(await top()).toEqual(['a 3', 'b 5', 'c 8']);

    const back = await generations.beginRollback(lease);
    expect(back).toMatchObject({ purpose: 'rollback', definition: arena });
    expect(await generations.shadowAppliedOffsets(back)).toEqual(new Map([[0, 2]]));
    endingOf(await promote(back, [stretchOf([since], { from: 3 })]));
    expect(await top()).toEqual(['c 8', 'b 5', 'a 3']);

    const forward = await generations.beginRollback(lease);
    endingOf(await promote(forward));
    expect(await top()).toEqual(['a 3', 'b 5', 'c 8']);
  });

  it('that is discarded keeps the previous generation', async () => {
    await fixture.apply(events);
    endingOf(await promote(await built(arena, events)));
    const before = await redis.hgetall(fixture.keys.previous(0));
    await generations.discard(lease, await generations.beginRollback(lease));
    expect(await redis.hgetall(fixture.keys.previous(0))).toEqual(before);
    await generations.beginRollback(lease);
    await generations.beginRollback(lease);
    await fixture.begin();
    expect(await redis.hgetall(fixture.keys.previous(0))).toEqual(before);
  });

  it('is impossible after the grace time, and the memory is freed', async () => {
    await fixture.apply(events);
    endingOf(await promote(await built(arena, events), [], 0));
    await fixture.sweep();
    await expect(generations.beginRollback(lease)).rejects.toThrow(NoPreviousGenerationError);
    expect(await fixture.keysOf(fixture.live)).toEqual([]);
    expect(await catalog.generations()).toMatchObject([{ role: 'live' }]);
  });
});

describe('a snapshot', () => {
  it('is read beside the live board until it is discarded', async () => {
    await fixture.apply(events);
    const ends = new Map([[0, 2]]);
    const shadow = await generations.begin(lease, {
      definition: arena,
      purpose: 'snapshot',
      ends,
      asOf: 77,
    });
    await generations.catchUp(lease, shadow, [stretchOf(events.slice(0, 2))]);
    expect(await generations.shadow('arena')).toEqual({ ...shadow, ends });
    await expect(top(shadow.generation)).rejects.toThrow(/no generation/); // it may lack players
    await generations.keepAsSnapshot(lease, shadow);
    expect(await top()).toEqual(['b 5', 'a 3', 'c 1']);
    expect(await top(shadow.generation)).toEqual(['b 5', 'a 3']);
    expect(await catalog.generations()).toMatchObject([
      { role: 'live' },
      { role: 'snapshot', generation: shadow.generation, asOf: 77 },
    ]);
    expect(await catalog.removeSnapshot(shadow.generation)).toBe(true);
    await fixture.sweep();
    expect(await catalog.removeSnapshot(shadow.generation)).toBe(false);
    await expect(top(shadow.generation)).rejects.toThrow(/no generation/);
  });
});

describe('removing a board', () => {
  it('discards all its generations, and makes its events unknown', async () => {
    await fixture.apply(events);
    endingOf(await promote(await built(arena, events)));
    await built(arena, events);
    expect(await generations.remove(lease)).toBeGreaterThan(0);
    expect(await generations.remove(await leases.acquire('nobody', 'test'))).toBe(0);
    await fixture.sweep();
    const boards = await fixture.store.boards();
    expect([boards.live.size, boards.building.size, [...boards.removed]]).toEqual([
      0,
      0,
      ['arena'],
    ]);
    expect(await catalog.generations()).toEqual([]);
    const left = Object.keys(await dumpKeys(redis, fixture.keys)).map((key) =>
      key.split(':').at(-1),
    );
    expect(left).not.toContain('views');
  });
});

describe('a store that knows a live generation, after another store promoted one', () => {
  const stretches = [stretchOf(events)];
  let here: GenerationStore;
  let there: GenerationStore;
  beforeEach(async () => {
    await fixture.apply(events);
    here = generations;
    there = new GenerationStore(redis, fixture.keys, { shards: 1 });
    await build(here);
  });

  const begin = (store: GenerationStore) =>
    store.begin(lease, { definition: arena, purpose: 'build' });
  const promoteBy = (store: GenerationStore, shadow: Shadow) =>
    store.promote(lease, shadow, stretches, { graceMs: 60_000 });
  const build = async (store: GenerationStore): Promise<string> => {
    const shadow = await begin(store);
    endingOf(await promoteBy(store, shadow));
    return shadow.generation;
  };

  it.each<[string, () => Promise<Shadow | undefined>]>([
    ['a new shadow', () => begin(here)],
    ['a shadow that another store began', async () => (await begin(there), here.shadow('arena'))],
    ['a rollback', () => here.beginRollback(lease)],
  ])('replaces that generation by %s', async (_, begun) => {
    const between = await build(there);
    const shadow = (await begun())!;
    expect(endingOf(await promoteBy(here, shadow)).previous).toBe(between);
  });

  it('compares with that generation', async () => {
    await build(there);
    const shadow = await here.begin(lease, { definition: arena, purpose: 'verify' });
    const outcome = await here.compare(lease, shadow, stretches);
    expect(endingOf(outcome)).toMatchObject({ views: 1, differences: [] });
  });

  it('is refused with a shadow of before', async () => {
    const shadow = await begin(here);
    expect(await here.promote(lease, shadow, [], { graceMs: 0 })).not.toHaveProperty('ending');
    await build(there);
    expect(await promoteBy(here, shadow)).toEqual({ status: 'generationChanged' });
    expect(await promoteBy(here, shadow)).toEqual({ status: 'shadowGone' });
  });
});
