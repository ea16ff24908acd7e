import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { BoardDefinition, ResolvedEvent } from '#board';
import {
  BoardReader,
  GenerationCatalog,
  GenerationStore,
  LeaseHeldError,
  LeaseLostError,
  LeaseStore,
  NoPreviousGenerationError,
  type CatchUpOutcome,
  type Lease,
  type LiveBoard,
  type Shadow,
  type Stretch,
} from '#board-store';
import { arena, movements, scored, StoreFixture, stretchOf } from './fixture.js';
import { dumpKeys, openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

const GRACE = { graceMs: 60_000 };
const ascending: BoardDefinition = {
  ...arena,
  columns: arena.columns.map((column) => ({ ...column, order: 'asc' as const })),
};

let fixture: StoreFixture;
let leases: LeaseStore;
let generations: GenerationStore;
let catalog: GenerationCatalog;
let lease: Lease;

beforeEach(async () => {
  fixture = await new StoreFixture(redis, newKeys()).register(arena);
  leases = new LeaseStore(redis, fixture.keys, { shards: 1 });
  generations = new GenerationStore(redis, fixture.keys, { shards: 1 });
  catalog = new GenerationCatalog(redis, fixture.keys, { shards: 1 });
  lease = await leases.acquire('arena', 'test');
});

/** Events of the ascending board: its values have the other sign. */
function turned(events: readonly ResolvedEvent[]): ResolvedEvent[] {
  return events.map((event) => ({
    ...event,
    values: event.values.map((value) => 0 - (value ?? 0)),
  }));
}

function endingOf<T>(outcome: CatchUpOutcome<T>): T {
  if (outcome.status !== 'applied' || outcome.ending === undefined)
    throw new Error(`no ending: ${JSON.stringify(outcome)}`);
  return outcome.ending;
}

function promote(shadow: Shadow, stretches: readonly Stretch[], grace: { graceMs: number }) {
  return generations.promote(lease, shadow, stretches, grace);
}

async function top(generation?: string): Promise<string[]> {
  const reader = new BoardReader(redis, fixture.keys, generation);
  const { entries } = await reader.standings('arena', 'all', { offset: 0, limit: 10 });
  return entries.map(({ playerId, columns }) => `${playerId} ${columns['points'] ?? ''}`);
}

async function live(): Promise<LiveBoard> {
  const found = (await fixture.store.boards()).live.get('arena');
  if (found === undefined) throw new Error('no board is live');
  return found;
}

async function generationKeys({ generation }: LiveBoard): Promise<string[]> {
  const keys = Object.keys(await dumpKeys(redis, fixture.keys));
  return keys.filter((key) => key.includes(generation));
}

async function built(
  definition: BoardDefinition,
  events: readonly ResolvedEvent[],
): Promise<Shadow> {
  const shadow = await generations.begin(lease, { definition, purpose: 'build' });
  await generations.catchUp(lease, shadow, [stretchOf(events)]);
  return shadow;
}

const events = [scored('a', [3]), scored('b', [5]), scored('c', [1])];

describe('a build', () => {
  it('is seen by nobody before its promotion, and by all after it', async () => {
    await fixture.apply(events);
    const shadow = await built(ascending, turned(events));
    expect(await top()).toEqual(['b 5', 'a 3', 'c 1']);
    const { since, previous } = endingOf(await promote(shadow, [], GRACE));
    expect(await top()).toEqual(['c 1', 'a 3', 'b 5']);
    expect(previous).toBe(fixture.live.generation);
    expect(await redis.hget(fixture.keys.promotions(0), 'arena')).toBe(String(since));
    expect((await live()).generation).toBe(shadow.generation);
    expect(endingOf(await promote(shadow, [], GRACE))).toEqual({ since });
  });

  it('never goes beyond the live applied offset, and promotions only when it is there', async () => {
    await fixture.apply(events.slice(0, 2));
    const shadow = await generations.begin(lease, { definition: arena, purpose: 'build' });
    const ahead = await generations.catchUp(lease, shadow, [stretchOf(events)]);
    expect(ahead).toEqual({
      status: 'applied',
      appliedOffsets: new Map([[0, { shadow: 1, live: 1 }]]),
    });
    await fixture.apply([events[2]!], { from: 2 });
    const late = await promote(shadow, [], GRACE);
    expect(late).toEqual({
      status: 'applied',
      appliedOffsets: new Map([[0, { shadow: 1, live: 2 }]]),
    });
    expect((await live()).generation).toBe(fixture.live.generation);
    endingOf(await promote(shadow, [stretchOf(events)], GRACE));
    expect(await top()).toEqual(['b 5', 'a 3', 'c 1']);
  });

  it('takes the stretches of all partitions in one step, each as far as its partition is', async () => {
    await fixture.apply(events);
    await fixture.apply(events.slice(0, 1), { partition: 1 });
    const shadow = await generations.begin(lease, { definition: arena, purpose: 'build' });
    const both = [stretchOf(events), stretchOf(events, { partition: 1 })];
    const outcome = await promote(shadow, both, GRACE);
    endingOf(outcome);
    expect(await top()).toEqual(['a 6', 'b 5', 'c 1']);
    expect(outcome).toMatchObject({
      appliedOffsets: new Map([
        [0, { shadow: 2, live: 2 }],
        [1, { shadow: 0, live: 0 }],
      ]),
    });
  });

  it('tells nothing, and leaves what the live board reports alone', async () => {
    const leaders = { ...arena, publish: { ...arena.publish, leaders: 2 } };
    fixture = await new StoreFixture(redis, newKeys()).register(leaders);
    leases = new LeaseStore(redis, fixture.keys, { shards: 1 });
    generations = new GenerationStore(redis, fixture.keys, { shards: 1 });
    lease = await leases.acquire('arena', 'test');
    await fixture.apply(events);
    const before = await dumpKeys(redis, fixture.keys);
    const shadow = await built(leaders, events);
    const after = await dumpKeys(redis, fixture.keys);
    for (const key of [fixture.keys.leaders(0, 'arena'), fixture.keys.outbox(0, 0)])
      expect(after[key]).toEqual(before[key]);
    endingOf(await promote(shadow, [], GRACE));
    fixture.live = await live();
    const verdicts = await fixture.apply([scored('c', [9])], { from: 3 });
    expect(movements(verdicts)).toEqual(['3 (3) -> 1 (1)', 'top 2']);
  });

  it('makes live calls of before it read the boards again, and ranks go on from there', async () => {
    await fixture.apply(events);
    const shadow = await built(ascending, turned(events));
    endingOf(await promote(shadow, [], GRACE));
    const late = fixture.call([scored('a', [1])], { from: 3 });
    expect(await fixture.store.apply(late)).toEqual({ status: 'generationChanged' });
    fixture.live = await live();
    const verdicts = await fixture.apply(turned([scored('a', [9])]), { from: 3 });
    expect(movements(verdicts)).toEqual(['2 (2) -> 3 (3)']);
  });

  it('makes calls with the old version read the boards again when it is removed or forgotten', async () => {
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

  it('shows larger view versions after its promotion, also of views that it moved long ago', async () => {
    await fixture.apply(events.slice(0, 2));
    await redis.hset(fixture.keys.views(0, fixture.live.generation), 'all', '8999999999999999');
    await fixture.apply([events[2]!], { from: 2 });
    const shadow = await built(arena, events);
    const version = async () =>
      (await fixture.reader().standings('arena', 'all', { offset: 0, limit: 1 })).version;
    expect(await version()).toBe(9_000_000_000_000_000);
    endingOf(await promote(shadow, [], GRACE));
    expect(await version()).toBeGreaterThanOrEqual(9_000_000_000_000_000);
    fixture.live = await live();
    await fixture.apply([scored('a', [1])], { from: 3 });
    expect(await version()).toBeGreaterThan(9_000_000_000_000_000);
  });

  it('of a new board ends its waiting', async () => {
    await fixture.apply(events);
    const { building } = await fixture.store.registerBoards([{ ...arena, board: 'late' }]);
    expect([...building]).toEqual(['late']);
    const other = await leases.acquire('late', 'test');
    const shadow = await generations.begin(other, {
      definition: { ...arena, board: 'late' },
      purpose: 'build',
    });
    const empty = { ...stretchOf([]), through: 2 };
    const ending = endingOf(await generations.promote(other, shadow, [empty], GRACE));
    expect(ending.previous).toBeUndefined();
    expect([...(await fixture.store.boards()).live.keys()].sort()).toEqual(['arena', 'late']);
  });

  it('begins later where it is told to', async () => {
    await fixture.apply(events);
    const starts = new Map([[0, 2]]);
    const shadow = await generations.begin(lease, { definition: arena, purpose: 'build', starts });
    endingOf(await promote(shadow, [stretchOf(events, { from: 0 })], GRACE));
    expect(await top()).toEqual(['c 1']);
    expect(await live()).toEqual({ ...shadow, purpose: undefined, starts });
    expect(await catalog.generations()).toMatchObject([
      { role: 'live', starts },
      { role: 'previous' },
    ]);
  });

  it('may begin behind what is live, and counts from there on', async () => {
    await fixture.apply(events.slice(0, 1));
    const starts = new Map([[0, 2]]);
    const shadow = await generations.begin(lease, { definition: arena, purpose: 'build', starts });
    const outcome = await promote(shadow, [stretchOf(events)], GRACE);
    endingOf(outcome);
    expect(outcome).toMatchObject({ appliedOffsets: new Map([[0, { shadow: 1, live: 0 }]]) });
    expect(await top()).toEqual([]);
    fixture.live = await live();
    await fixture.apply([], { from: 1, through: 1 });
    await fixture.apply([events[2]!], { from: 2 });
    expect(await top()).toEqual(['c 1']);
  });

  it('gives up the generation before the previous one, with all its memory', async () => {
    await fixture.apply(events);
    const first = fixture.live.generation;
    endingOf(await promote(await built(arena, events), [], GRACE));
    endingOf(await promote(await built(arena, events), [], GRACE));
    while ((await catalog.sweep()) > 0);
    const keys = Object.keys(await dumpKeys(redis, fixture.keys));
    expect(keys.filter((key) => key.includes(first))).toEqual([]);
    expect(await redis.hexists(fixture.keys.definitions(0), first)).toBe(0);
  });

  it('brings a removed board back', async () => {
    await fixture.apply(events);
    await generations.remove(lease);
    endingOf(await promote(await built(arena, events), [], GRACE));
    const { live: boards, removed } = await fixture.store.boards();
    expect([[...boards.keys()], removed.size]).toEqual([['arena'], 0]);
  });
});

describe('a shadow', () => {
  it('refuses a stretch that begins behind a hole', async () => {
    await fixture.apply(events);
    const shadow = await generations.begin(lease, { definition: arena, purpose: 'build' });
    const outcome = await generations.catchUp(lease, shadow, [
      stretchOf(events.slice(1), { from: 1 }),
    ]);
    expect(outcome).toEqual({ status: 'gap' });
  });

  it('takes nothing of a call that has a hole in any of its stretches', async () => {
    await fixture.apply(events);
    await fixture.apply(events, { partition: 1 });
    const shadow = await generations.begin(lease, { definition: arena, purpose: 'build' });
    const holed = stretchOf(events.slice(1), { from: 1, partition: 1 });
    const outcome = await generations.catchUp(lease, shadow, [stretchOf(events), holed]);
    expect(outcome).toEqual({ status: 'gap' });
    expect(await generations.shadowAppliedOffsets(shadow)).toEqual(new Map());
  });

  it('is found again by whoever goes on with it, with its applied offsets', async () => {
    await fixture.apply(events);
    const shadow = await built(ascending, turned(events.slice(0, 2)));
    expect(await generations.shadow('arena')).toEqual(shadow);
    expect(await generations.shadowAppliedOffsets(shadow)).toEqual(new Map([[0, 1]]));
    const again = await generations.catchUp(lease, shadow, [stretchOf(turned(events))]);
    expect(again).toMatchObject({ appliedOffsets: new Map([[0, { shadow: 2, live: 2 }]]) });
    endingOf(await promote(shadow, [], GRACE));
    expect(await top()).toEqual(['c 1', 'a 3', 'b 5']);
  });

  it('is written to by nobody without the lease', async () => {
    await fixture.apply(events);
    const shadow = await built(arena, events.slice(0, 1));
    await expect(leases.acquire('arena', 'other')).rejects.toThrow(LeaseHeldError);
    await redis.del(fixture.keys.lease(0, 'arena'));
    const other = await leases.acquire('arena', 'other');
    expect(await generations.catchUp(lease, shadow, [stretchOf(events)])).toEqual({
      status: 'leaseLost',
    });
    expect(await promote(shadow, [stretchOf(events)], GRACE)).toEqual({
      status: 'leaseLost',
    });
    for (const write of [
      () => generations.discard(lease, shadow),
      () => generations.begin(lease, { definition: arena, purpose: 'build' }),
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

  it('leaves nothing behind when it is given up', async () => {
    await fixture.apply(events);
    await leases.release(lease);
    const before = await dumpKeys(redis, fixture.keys);
    lease = await leases.acquire('arena', 'test');
    const shadow = await built(arena, events);
    await generations.discard(lease, shadow);
    expect(await generations.catchUp(lease, shadow, [])).toEqual({ status: 'shadowGone' });
    await leases.release(lease);
    while ((await catalog.sweep()) > 0);
    expect(await dumpKeys(redis, fixture.keys)).toEqual(before);
  });

  it('of very many views leaves nothing behind either', async () => {
    const shadow = await built(arena, []);
    const views = Array.from({ length: 5_000 }, (_, number) => `day:2026-11-20 region=${number}`);
    await redis.hset(
      fixture.keys.views(0, shadow.generation),
      views.flatMap((view) => [view, 1]),
    );
    for (const view of views.slice(-3))
      await redis.hset(fixture.keys.players(0, shadow.generation, view), 'a', '1@1');
    expect((await generationKeys(shadow)).length).toBeGreaterThan(3);
    await generations.discard(lease, shadow);
    while ((await catalog.sweep()) > 0);
    expect(await generationKeys(shadow)).toEqual([]);
  });

  it('takes its event ids with it when the shard has lost its applied offsets', async () => {
    const deduplicating = { ...arena, deduplicateMs: 60_000 };
    await fixture.apply(events);
    const known = events.map((event, index) => ({ ...event, eventId: `e${index}` }));
    const shadow = await built(deduplicating, known);
    const eventIds = fixture.keys.eventIds(0, shadow.generation, 0);
    expect(await redis.zcard(eventIds)).toBe(3);
    await generations.discard(lease, shadow);
    await redis.del(fixture.keys.appliedOffsets(0));
    while ((await catalog.sweep()) > 0);
    expect(await generationKeys(shadow)).toEqual([]);
  });

  it('is replaced by one that is begun after it', async () => {
    const first = await generations.begin(lease, { definition: arena, purpose: 'build' });
    const second = await generations.begin(lease, { definition: arena, purpose: 'verify' });
    expect(await generations.catchUp(lease, first, [])).toEqual({ status: 'shadowGone' });
    expect(await generations.shadow('arena')).toEqual(second);
    await generations.discard(lease, first);
    await expect(generations.keepAsSnapshot(lease, first)).rejects.toThrow(LeaseLostError);
    expect(await generations.shadow('arena')).toEqual(second);
  });
});

describe('a rollback', () => {
  it('brings the generation of before back, with the events since, and forward again', async () => {
    await fixture.apply(events);
    endingOf(await promote(await built(ascending, turned(events)), [], GRACE));
    fixture.live = await live();
    const since = scored('c', [7]);
    await fixture.apply(turned([since]), { from: 3 });
    expect(await top()).toEqual(['a 3', 'b 5', 'c 8']);

    const back = await generations.beginRollback(lease);
    expect(back).toMatchObject({ purpose: 'rollback', definition: arena });
    expect(await generations.shadowAppliedOffsets(back)).toEqual(new Map([[0, 2]]));
    endingOf(await promote(back, [stretchOf([since], { from: 3 })], GRACE));
    expect(await top()).toEqual(['c 8', 'b 5', 'a 3']);

    const forward = await generations.beginRollback(lease);
    endingOf(await promote(forward, [], GRACE));
    expect(await top()).toEqual(['a 3', 'b 5', 'c 8']);
  });

  it('that is given up leaves the previous generation where it was', async () => {
    await fixture.apply(events);
    endingOf(await promote(await built(arena, events), [], GRACE));
    const before = await redis.hgetall(fixture.keys.previous(0));
    await generations.discard(lease, await generations.beginRollback(lease));
    expect(await redis.hgetall(fixture.keys.previous(0))).toEqual(before);
    await generations.beginRollback(lease);
    await generations.beginRollback(lease);
    await generations.begin(lease, { definition: arena, purpose: 'build' });
    expect(await redis.hgetall(fixture.keys.previous(0))).toEqual(before);
  });

  it('is over when the grace time is, and the memory is given back', async () => {
    await fixture.apply(events);
    endingOf(await promote(await built(arena, events), [], { graceMs: 0 }));
    while ((await catalog.sweep()) > 0);
    await expect(generations.beginRollback(lease)).rejects.toThrow(NoPreviousGenerationError);
    expect(await generationKeys(fixture.live)).toEqual([]);
    expect(await catalog.generations()).toMatchObject([{ role: 'live' }]);
  });
});

describe('a snapshot', () => {
  it('is read beside the live board, and can be given up', async () => {
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
    while ((await catalog.sweep()) > 0);
    expect(await catalog.removeSnapshot(shadow.generation)).toBe(false);
    await expect(top(shadow.generation)).rejects.toThrow(/no generation/);
  });
});

describe('removing a board', () => {
  it('takes all its generations, and its events are unknown from then on', async () => {
    await fixture.apply(events);
    endingOf(await promote(await built(arena, events), [], GRACE));
    await built(arena, events);
    expect(await generations.remove(lease)).toBeGreaterThan(0);
    expect(await generations.remove(await leases.acquire('nobody', 'test'))).toBe(0);
    while ((await catalog.sweep()) > 0);
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

describe('a lease', () => {
  it('runs out unless it is renewed, and is given back by its holder alone', async () => {
    const key = fixture.keys.lease(0, 'arena');
    await redis.pexpire(key, 1_000);
    await leases.renew(lease);
    expect(await redis.pttl(key)).toBeGreaterThan(10_000);
    await leases.release({ ...lease, token: 'another' });
    expect(await redis.get(key)).toBe(lease.token);
    await leases.release(lease);
    expect(await redis.exists(key)).toBe(0);
  });
});

describe('what a reconciliation tells', () => {
  const status = {
    board: 'arena',
    kind: 'build',
    state: 'running',
    generation: 'g',
    holder: 'test',
    done: 1,
    total: 2,
    rate: 3,
    secondsLeft: 6,
    startedAt: 4,
    updatedAt: 5,
  } as const;

  it('is kept, and says so when its process is gone', async () => {
    await leases.renew(lease, status);
    expect(await leases.statuses()).toEqual([status]);
    await redis.del(fixture.keys.lease(0, 'arena'));
    const outcome = expect.stringContaining('what was built is kept') as unknown;
    expect(await leases.statuses()).toMatchObject([{ state: 'failed', outcome }]);
    await leases.acquire('arena', 'another');
    expect(await leases.statuses()).toMatchObject([{ state: 'failed' }]);
    await expect(leases.renew(lease, { ...status, state: 'done' })).rejects.toThrow(LeaseLostError);
  });
});
