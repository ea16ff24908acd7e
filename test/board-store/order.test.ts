import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { BoardDefinition, ResolvedEvent } from '#board';
import {
  GenerationStore,
  LeaseStore,
  UnorderedShadowError,
  type Lease,
  type Shadow,
  type Stretch,
  type UnorderedView,
} from '#board-store';
import { emptyMemory } from '../model/oracle-board.js';
import { updatedState, type OracleState } from '../model/oracle-update.js';
import { Oracle } from '../model/oracle.js';
import { compareGeneration } from '../model/store-comparison.js';
import { restoreKeys, saveKeys } from '../model/store-keys.js';
import { randomFrom } from '../support/seeded-random.js';
import { arena, lasting, scored, StoreFixture, stretchOf, T0 } from './fixture.js';
import { order } from './order.js';
import { openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

const GRACE = { graceMs: 60_000 };
const PLAYERS = 4_000;
/** Views of one player each, and one that is too large for a step. */
const SMALL_VIEWS = 1_200;
const STEP = 700;

let fixture: StoreFixture;
let generations: GenerationStore;
let lease: Lease;
let events: ResolvedEvent[];

async function prepare(definition: BoardDefinition): Promise<void> {
  fixture = await new StoreFixture(redis, newKeys()).register(definition);
  generations = new GenerationStore(redis, fixture.keys, { shards: 1 });
  lease = await new LeaseStore(redis, fixture.keys, { shards: 1 }).acquire('arena', 'test');
  await redis.persist(fixture.keys.lease(0, 'arena'));
  for (let from = 0; from < events.length; from += 500)
    await fixture.apply(events.slice(from, from + 500), { from });
}

beforeEach(async () => {
  const random = randomFrom(77);
  const number = (below: number) => Math.floor(random() * below);
  events = Array.from({ length: 2 * PLAYERS }, (_, index) =>
    scored(`p${index % PLAYERS}`, [number(50)], {
      occurredAt: T0 + number(100),
      views: index < SMALL_VIEWS ? lasting('all', `day:${index}`) : lasting('all'),
    }),
  );
  await prepare(arena);
});

function stretch(from: number, end: number): Stretch {
  return stretchOf(events.slice(from, end), { from });
}

async function begun(definition = arena): Promise<Shadow> {
  return generations.begin(lease, { definition, purpose: 'build' });
}

async function feed(shadow: Shadow, from = 0, end = events.length): Promise<void> {
  for (let at = from; at < end; at += 500) {
    const outcome = await generations.catchUp(lease, shadow, [
      stretch(at, Math.min(end, at + 500)),
    ]);
    expect(outcome.status).toBe('applied');
  }
}

const ALL = [{ view: 'all', cursor: '0' }];

/** So many steps from there on, or all; answers what comes next. */
async function orderAll(
  shadow: Shadow,
  from: readonly UnorderedView[] = [],
  most = Infinity,
): Promise<readonly UnorderedView[]> {
  let views = from;
  for (let steps = 1; steps <= most; steps++) {
    const outcome = await generations.order(lease, shadow, { views, mostPlayers: STEP });
    if (outcome.status !== 'applied') throw new Error(`the store answered ${outcome.status}`);
    ({ views } = outcome);
    if (views.length === 0) break;
  }
  return views;
}

const ranked = (shadow: Shadow, view = 'all') =>
  redis.zcard(fixture.keys.ranking(0, shadow.generation, view));
const countLeft = (shadow: Shadow) => redis.scard(fixture.keys.unordered(0, shadow.generation));

/** Makes it live, and compares all of it with the oracle, byte by byte. */
async function promotionAndCompare(shadow: Shadow): Promise<void> {
  const outcome = await generations.promote(lease, shadow, [], GRACE);
  expect(outcome).toMatchObject({ ending: { previous: fixture.live.generation } });
  await compareGeneration(redis, { keys: fixture.keys, shard: 0, live: shadow }, oracle());
}

/** What the events make of the board: states alone, without the ranks of each event. */
function oracle(): Oracle {
  const memory = emptyMemory();
  for (const event of events)
    for (const { view, expiresAt } of event.views) {
      const players = memory.views.get(view)?.players ?? new Map<string, OracleState>();
      memory.views.set(view, { expiresAt, published: true, players });
      const state = updatedState(arena, players.get(event.playerId), event);
      if (state !== 'outOfRange') players.set(event.playerId, state);
    }
  return new Oracle([arena], new Map([['arena', memory]]));
}

describe('a shadow that is far from the live applied offsets', () => {
  it('keeps no order until it is made, and can be neither made live nor kept before', async () => {
    const shadow = await begun();
    await feed(shadow);
    expect(await ranked(shadow)).toBe(0);
    expect(await generations.promote(lease, shadow, [], GRACE)).toEqual({ status: 'unordered' });
    await expect(generations.keep(lease, shadow)).rejects.toThrow(UnorderedShadowError);
    expect(await generations.shadow('arena')).toEqual(shadow);
    await orderAll(shadow, [], 3);
    expect(await generations.promote(lease, shadow, [], GRACE)).toEqual({ status: 'unordered' });
    await order(generations, lease, shadow, STEP);
    await promotionAndCompare(shadow);
  });

  it('gets its order in steps that are bounded, however many views or players there are', async () => {
    const shadow = await begun();
    await feed(shadow);
    let [steps, players] = [0, 0];
    let views: readonly UnorderedView[] = [];
    do {
      const outcome = await generations.order(lease, shadow, { views, mostPlayers: STEP });
      if (outcome.status !== 'applied') throw new Error(outcome.status);
      expect(outcome.players).toBeLessThan(STEP + 700);
      [steps, players, views] = [steps + 1, players + outcome.players, outcome.views];
    } while (views.length > 0);
    expect(players).toBeGreaterThanOrEqual(PLAYERS + SMALL_VIEWS);
    expect(steps).toBeLessThan(3 * ((PLAYERS + 3 * SMALL_VIEWS) / STEP));
    await promotionAndCompare(shadow);
  });

  it('has its players counted who lack their order: of the view that is begun, those that it lacks', async () => {
    const shadow = await begun();
    expect(await generations.countUnordered(shadow)).toBe(0);
    await feed(shadow);
    const [...sizes] = await Promise.all(
      oracle()
        .views('arena')
        .map((view) => redis.hlen(fixture.keys.players(0, shadow.generation, view))),
    );
    const all = sizes.reduce((sum, size) => sum + size, 0);
    expect(await generations.countUnordered(shadow)).toBe(all);
    const step = { views: ALL, mostPlayers: STEP };
    const outcome = await generations.order(lease, shadow, step);
    if (outcome.status !== 'applied') throw new Error(`the store answered ${outcome.status}`);
    expect(await generations.countUnordered(shadow)).toBe(all);
    expect(await generations.countUnordered(shadow, 'all')).toBe(all - outcome.players);
    await order(generations, lease, shadow, STEP);
    expect(await generations.countUnordered(shadow)).toBe(0);
  });

  it('keeps its order from then on', async () => {
    const shadow = await begun();
    await feed(shadow, 0, 6_000);
    await order(generations, lease, shadow);
    await feed(shadow, 6_000);
    expect(await countLeft(shadow)).toBe(0);
    await promotionAndCompare(shadow);
  });

  it('of which nothing is known gets it in one step', async () => {
    const shadow = await begun();
    expect(await order(generations, lease, shadow)).toBe(1);
    expect(await order(generations, lease, shadow)).toBe(1);
    await feed(shadow);
    await promotionAndCompare(shadow);
  });

  it('does not lose what was made of it when its builder is killed, and goes on with the rest', async () => {
    const shadow = await begun();
    await feed(shadow);
    await orderAll(shadow, [], 4);
    const before = await countLeft(shadow);
    expect(before).toBeLessThan(SMALL_VIEWS);
    expect(await generations.shadow('arena')).toEqual(shadow);
    await order(generations, lease, shadow, STEP);
    await promotionAndCompare(shadow);
  });

  it('that is brought nearer between two steps has what was moved put in order again', async () => {
    const shadow = await begun();
    await feed(shadow, 0, 7_000);
    const left = await orderAll(shadow, ALL, 1);
    await feed(shadow, 7_000);
    await orderAll(shadow, left);
    await promotionAndCompare(shadow);
  });

  it('has its order made again where Redis has lost some of it between two steps', async () => {
    const shadow = await begun();
    await feed(shadow);
    const left = await orderAll(shadow, ALL, 1);
    const saved = await saveKeys(redis, fixture.keys);
    const next = await orderAll(shadow, left, 1);
    await restoreKeys(redis, fixture.keys, saved);
    await orderAll(shadow, next);
    await promotionAndCompare(shadow);
  });

  it('has nobody in its order whom somebody put there by hand', async () => {
    const shadow = await begun();
    await feed(shadow);
    await redis.zadd(fixture.keys.ranking(0, shadow.generation, 'all'), -1e6, 'nobody');
    await order(generations, lease, shadow, STEP);
    await promotionAndCompare(shadow);
  });

  it('takes no harm from a call that arrives once more, after what it began was made', async () => {
    const shadow = await begun();
    await feed(shadow);
    let left = await orderAll(shadow, ALL, 1);
    while (left[0]?.view === 'all') left = await orderAll(shadow, left, 1);
    expect(await ranked(shadow)).toBe(PLAYERS);
    await orderAll(shadow, ALL, 1);
    await orderAll(shadow, left);
    await promotionAndCompare(shadow);
  });

  it('forgets views that have expired, also those that it would still put in order', async () => {
    const view = { view: 'day:2026-11-20', expiresAt: T0 + 1_000, published: true };
    events = [
      scored('a', [1], { views: [view, ...lasting('all')] }),
      scored('b', [2], { occurredAt: T0 + 5_000 }),
    ];
    const windows = [{ kind: 'all' }, { kind: 'day', keepMs: 1_000 }] as const;
    const keeping = { ...arena, windows };
    await prepare(keeping);
    const shadow = await begun(keeping);
    await feed(shadow);
    expect(await countLeft(shadow)).toBe(2);
    expect(await fixture.store.sweep(shadow)).toBe(1);
    expect(await countLeft(shadow)).toBe(1);
    await order(generations, lease, shadow);
    expect(await ranked(shadow)).toBe(2);
    expect(await redis.exists(fixture.keys.unordered(0, shadow.generation))).toBe(0);
  });

  it('is put in order by nobody without the lease, nor when it is gone', async () => {
    const shadow = await begun();
    const step = { views: [], mostPlayers: STEP };
    const zombie = { ...lease, token: 'another' };
    expect(await generations.order(zombie, shadow, step)).toEqual({ status: 'leaseLost' });
    await generations.discard(lease, shadow);
    expect(await generations.order(lease, shadow, step)).toEqual({ status: 'shadowGone' });
  });

  it('that is brought back has its order', async () => {
    const shadow = await begun();
    await order(generations, lease, shadow);
    await feed(shadow);
    await promotionAndCompare(shadow);
    const back = await generations.beginRollback(lease);
    const outcome = await generations.promote(lease, back, [], GRACE);
    expect(outcome).toMatchObject({ ending: { previous: shadow.generation } });
  });
});
