import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  BoardReader,
  GenerationStore,
  LeaseHeldError,
  LeaseLostError,
  UNRANKED,
  type GenerationCatalog,
  type Lease,
  type LeaseStore,
  type Shadow,
} from '#board-store';
import { stateOf } from '../model/oracle-format.js';
import { arena, lasting, scored, stretchOf } from './fixture.js';
import { endingOf, GenerationFixture, rankAll, rankAndPromote } from './generation-fixture.js';
import { openTestRedis } from './test-redis.js';

const testRedis = openTestRedis();
const { redis, close } = testRedis;
afterAll(close);

let fixture: GenerationFixture;
let leases: LeaseStore;
let generations: GenerationStore;
let catalog: GenerationCatalog;
let lease: Lease;

beforeEach(async () => {
  fixture = await GenerationFixture.make(testRedis, { events: [] });
  ({ leases, generations, catalog, lease } = fixture);
});

async function top(generation?: string): Promise<string[]> {
  const reader = new BoardReader({
    redis: redis,
    prefix: fixture.keys.prefix,
    generation: generation,
  });
  const { entries } = await reader.standings('arena', { view: 'all', limit: 10 });
  return entries.map(({ playerId, columns }) => `${playerId} ${columns['points'] ?? ''}`);
}

const promote: GenerationFixture['promote'] = (...args) => fixture.promote(...args);

const events = [scored('a', [3]), scored('b', [5]), scored('c', [1])];

describe('a build', () => {
  it('is read only after its promotion', async () => {
    await fixture.apply(events);
    const columns = arena.columns.map((column) => ({ ...column, decimals: 1 }));
    const shadow = await fixture.build(events, { definition: { ...arena, columns } });
    expect(await top()).toEqual(['b 5', 'a 3', 'c 1']);
    const { since, previous } = endingOf(await promote(shadow));
    expect(await top()).toEqual(['b 0.5', 'a 0.3', 'c 0.1']);
    expect(previous).toBe(fixture.live.generation);
    expect(await redis.hget(fixture.keys.promotions(0), 'arena')).toBe(String(since));
    expect((await fixture.readLive()).generation).toBe(shadow.generation);
    expect(endingOf(await promote(shadow))).toEqual({ since });
  });

  it('is ranked beside its calls, before its promotion', async () => {
    const first = Array.from({ length: 3_000 }, (_, index) => scored(`player-${index}`, [index]));
    const some = first.filter((_, index) => index % 2 === 0);
    const later = [...some.map(({ playerId }) => scored(playerId, [7])), scored('new', [9])];
    const stretch = stretchOf(later, { from: first.length });
    await fixture.apply(first);
    const { live } = fixture;
    const shadow = await fixture.build(first);
    expect(await generations.promote(lease, shadow, [], { graceMs: 0 })).toMatchObject({
      ending: UNRANKED,
    });
    expect(await fixture.ranking(shadow)).toEqual([]);
    const found = await generations.rank(lease, shadow);
    const ranked = await generations.rank(lease, shadow, found.next);
    expect(ranked.players).toBeGreaterThan(0);
    expect(ranked.players).toBeLessThan(first.length);
    await fixture.apply(later, { from: first.length });
    await generations.catchUp(lease, shadow, [stretch]);
    const all = await fixture.ranking(live);
    expect((await fixture.ranking(shadow)).length).toBeLessThan(all.length);
    await rankAll(generations, lease, shadow, ranked.next);
    expect(await fixture.ranking(shadow)).toEqual(all);
    const promoted = await generations.promote(lease, shadow, [], { graceMs: 60_000 });
    expect(endingOf(promoted)).toMatchObject({ previous: live.generation });
  });

  it('is ranked in all of its views, also if one call finds or ranks only some of them', async () => {
    const views = Array.from({ length: 1_250 }, (_, index) => `all region=${index}`);
    const each = views.map((view, index) => {
      return scored(`player-${index}`, [index], { views: lasting('all', view) });
    });
    await fixture.apply(each);
    const { live } = fixture;
    const shadow = await fixture.build(each);
    await fixture.makeLive(shadow);
    const rankings = ({ generation }: Pick<Shadow, 'generation'>) =>
      Promise.all(
        ['all', ...views].map((view) =>
          redis.zrange(fixture.keys.ranking(0, generation, view), 0, -1, 'WITHSCORES'),
        ),
      );
    expect(await rankings(shadow)).toEqual(await rankings(live));
  });

  it('is ranked in a view that it gets during its ranking', async () => {
    await fixture.apply(events);
    const { live } = fixture;
    const views = lasting('all', 'all region=new');
    const later = [scored('a', [5], { views }), scored('new', [9], { views })];
    const shadow = await fixture.build(events);
    const found = await generations.rank(lease, shadow);
    expect(found.next?.views).toEqual(['all']);
    await fixture.apply(later, { from: events.length });
    await generations.catchUp(lease, shadow, [stretchOf(later, { from: events.length })]);
    await rankAll(generations, lease, shadow, found.next);
    const ranking = ({ generation }: Pick<Shadow, 'generation'>) =>
      redis.zrange(fixture.keys.ranking(0, generation, 'all region=new'), 0, -1, 'WITHSCORES');
    expect(await ranking(shadow)).toEqual(await ranking(live));
    expect(await ranking(live)).toHaveLength(4);
  });

  it('is ranked about 1,000 players a call, also if these are of several views', async () => {
    const views = lasting('all', 'all region=new');
    const each = Array.from({ length: 750 }, (_, index) => {
      return scored(`player-${index}`, [index], { views });
    });
    await fixture.apply(each);
    const steps = await rankAll(generations, lease, await fixture.build(each));
    expect(steps[0]).toBe(0); // finds the views
    expect(steps[1]).toBeGreaterThan(750);
    expect(steps[1]).toBeLessThan(1_250);
    expect(steps.reduce((sum, players) => sum + players)).toBeGreaterThanOrEqual(1_500);
  });

  it('is not ranked once another shadow has replaced it', async () => {
    const replaced = await fixture.build(events);
    const { generation } = await fixture.begin();
    expect(await generations.rank(lease, replaced)).toEqual({ players: 0 });
    expect(await fixture.shadowEntry()).toBe(`${generation} unranked`);
  });

  it('is the only shadow that is ranked', async () => {
    const verify = await fixture.build(events, { purpose: 'verify' });
    expect(await generations.rank(lease, verify)).toEqual({ players: 0 });
    expect(await fixture.shadowEntry()).toBe(`${verify.generation} verify`);
  });

  it('of a new board may be given up: once the board is unregistered, callers have to read the boards again', async () => {
    await fixture.apply(events);
    await fixture.store.registerBoards([{ ...arena, board: 'late' }]);
    await fixture.refresh();
    await generations.remove(await leases.acquire('late', 'test'), { unregisters: true });
    const call = fixture.call([], { from: 3 });
    expect(await fixture.store.apply(call)).toEqual({ status: 'generationChanged' });
  });

  it('never shows a smaller view version after its promotion, and a larger one after the next event', async () => {
    await fixture.apply(events.slice(0, 2));
    await redis.hset(fixture.keys.views(0, fixture.live.generation), 'all', '8999999999999999');
    await fixture.apply([events[2]!], { from: 2 });
    const shadow = await fixture.build(events);
    const version = async () =>
      (await fixture.reader().standings('arena', { view: 'all', limit: 1 })).version;
    expect(await version()).toBe(9_000_000_000_000_000);
    endingOf(await promote(shadow));
    expect(await version()).toBeGreaterThanOrEqual(9_000_000_000_000_000);
    await fixture.readLive();
    await fixture.apply([scored('a', [1])], { from: 3 });
    expect(await version()).toBeGreaterThan(9_000_000_000_000_000);
  });

  it('makes a removed board live again', async () => {
    await generations.remove(lease);
    endingOf(await promote(await fixture.build([])));
    const { live, removed } = await fixture.store.boards();
    expect([[...live.keys()], removed.size]).toEqual([['arena'], 0]);
  });

  it('contains only the events from its start offsets on', async () => {
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
});

describe('a shadow', () => {
  it('applies nothing of a call with a gap in one of its stretches', async () => {
    await fixture.apply(events);
    await fixture.apply(events, { partition: 1 });
    const shadow = await fixture.begin();
    const holed = stretchOf(events.slice(1), { from: 1, partition: 1 });
    const outcome = await generations.catchUp(lease, shadow, [stretchOf(events), holed]);
    expect(outcome).toEqual({ status: 'gap' });
    expect(await generations.shadowAppliedOffsets(shadow)).toEqual(new Map());
  });

  it('is written only by the holder of the lease', async () => {
    await fixture.apply(events);
    const shadow = await fixture.build(events.slice(0, 1));
    await expect(leases.acquire('arena', 'other')).rejects.toThrow(LeaseHeldError);
    await redis.del(fixture.keys.lease(0, 'arena'));
    const other = await leases.acquire('arena', 'other');
    const refused = { status: 'leaseLost' };
    expect(await generations.catchUp(lease, shadow, [stretchOf(events)])).toEqual(refused);
    expect(await promote(shadow, [stretchOf(events)])).toEqual(refused);
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

  it('with very many views leaves no key when it is discarded', async () => {
    const shadow = await fixture.build([]);
    const views = Array.from({ length: 5_000 }, (_, number) => `day:2026-11-20 region=${number}`);
    await redis.hset(
      fixture.keys.views(0, shadow.generation),
      views.flatMap((view) => [view, 1]),
    );
    for (const view of views.slice(-3))
      await redis.hset(fixture.keys.players(0, shadow.generation, view), 'a', stateOf(1));
    expect((await fixture.keysOf(shadow)).length).toBeGreaterThan(3);
    await generations.discard(lease, shadow);
    await fixture.sweep();
    expect(await fixture.keysOf(shadow)).toEqual([]);
  });

  it('is freed with its event ids, also if the shard has lost its applied offsets', async () => {
    const definition = { ...arena, deduplicateMs: 60_000 };
    await fixture.apply(events);
    const known = events.map((event, index) => ({ ...event, eventId: `e${index}` }));
    const shadow = await fixture.build(known, { definition });
    const eventIds = fixture.keys.eventIds(0, shadow.generation, 0);
    expect(await redis.zcard(eventIds)).toBe(3);
    await generations.discard(lease, shadow);
    await redis.del(fixture.keys.appliedOffsets(0));
    await fixture.sweep();
    expect(await fixture.keysOf(shadow)).toEqual([]);
  });

  it('is replaced by a later shadow', async () => {
    const first = await fixture.begin();
    const second = await fixture.begin('verify');
    expect(await generations.catchUp(lease, first, [])).toEqual({ status: 'shadowGone' });
    expect(await generations.shadow('arena')).toEqual(second);
    await generations.discard(lease, first);
    await expect(generations.keepAsSnapshot(lease, first)).rejects.toThrow(LeaseLostError);
    expect(await generations.shadow('arena')).toEqual(second);
  });
});

describe('a snapshot', () => {
  it('can be read in addition to the live board, until it is discarded', async () => {
    await fixture.apply(events);
    const ends = new Map([[0, 2]]);
    const purpose = 'snapshot';
    const shadow = await generations.begin(lease, { definition: arena, purpose, ends, asOf: 77 });
    await generations.catchUp(lease, shadow, [stretchOf(events.slice(0, 2))]);
    expect(await generations.shadow('arena')).toEqual({ ...shadow, ends });
    // until it is kept, it may lack players
    await expect(top(shadow.generation)).rejects.toThrow(/no generation/);
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

describe('a store that knows a live generation, after another store has promoted a later one', () => {
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
    rankAndPromote(store, lease, shadow, stretches, { graceMs: 60_000 });
  const build = async (store: GenerationStore): Promise<string> => {
    const shadow = await begin(store);
    endingOf(await promoteBy(store, shadow));
    return shadow.generation;
  };

  it.each<[string, () => Promise<Shadow | undefined>]>([
    ['a new shadow', () => begin(here)],
    ['a shadow that another store began', async () => (await begin(there), here.shadow('arena'))],
    ['a rollback', () => here.beginRollback(lease)],
  ])('replaces that later generation by %s', async (_, begun) => {
    const between = await build(there);
    const shadow = (await begun())!;
    expect(endingOf(await promoteBy(here, shadow)).previous).toBe(between);
  });

  it('compares with that later generation', async () => {
    await build(there);
    const shadow = await here.begin(lease, { definition: arena, purpose: 'verify' });
    const outcome = await here.compare(lease, shadow, stretches);
    expect(endingOf(outcome)).toMatchObject({ views: 1, differences: [] });
  });

  it('can not promote a shadow that it began before', async () => {
    const shadow = await begin(here);
    expect(await here.promote(lease, shadow, [], { graceMs: 0 })).not.toHaveProperty('ending');
    await build(there);
    expect(await promoteBy(here, shadow)).toEqual({ status: 'generationChanged' });
    expect(await promoteBy(here, shadow)).toEqual({ status: 'shadowGone' });
  });
});
