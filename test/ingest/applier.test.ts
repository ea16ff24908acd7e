import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { definitionText, type BoardDefinition } from '#board';
import {
  BoardReader,
  BoardStore,
  ContinuityStore,
  type ApplyCall,
  type ApplyOutcome,
  type KeySpace,
} from '#board-store';
import type { KafkaRecord, PartitionAssignment } from '#kafka-batch';
import { Applier } from '../../src/ingest/applier.js';
import { runsOf } from './applied-runs.js';
import { LiveBoards } from '../../src/ingest/live-boards.js';
import { FULL_CALL } from '../../src/ingest/split-calls.js';
import { Metrics } from '../../src/infra/metrics.js';
import { arena, comparedToken, pointTo, StoreFixture, T0 } from '../board-store/fixture.js';
import { openTestRedis } from '../board-store/test-redis.js';
import { eventually } from '../support/eventually.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

const SHARDS = 2;
/** The home shard of this partition is 0; the board is in the other shard. */
const ASSIGNMENT = { partition: 0 } as PartitionAssignment;
const OTHER_SHARD = 1;

const NEVER_WAITS = {
  wait: () => Promise.reject(new Error('it waits')),
  done: () => undefined,
};

/** A record with one point for a player. */
function recordOf(offset: number, board: string, playerId: string): KafkaRecord {
  const value = Buffer.from(JSON.stringify({ board, playerId, delta: '1' }));
  return { offset, timestamp: T0, key: null, value, headers: {} };
}

class WatchedStore extends BoardStore {
  beforeCall: (call: ApplyCall) => Promise<void> = () => Promise.resolve();

  override async apply(call: ApplyCall): Promise<ApplyOutcome> {
    await this.beforeCall(call);
    return super.apply(call);
  }
}

describe('a batch that takes two apply calls', () => {
  it('goes to the new generation from the second call on, if another partition finds that generation meanwhile', async () => {
    const fixture = await new StoreFixture(redis, newKeys()).register(arena);
    const { store, keys } = fixture;
    const boards = new LiveBoards(store);
    await boards.refresh();
    const makeLive = async (generation: string, definition: BoardDefinition) => {
      await redis.hset(keys.definitions(0), generation, definitionText(definition));
      await pointTo(redis, keys.live(0), 'arena', generation);
    };
    const columns = [{ name: 'points', update: 'sum', order: 'asc', decimals: 2 }] as const;

    const start = { appliedOffsets: [-1], continuity: [fixture.token] };
    const applier = new Applier(
      { store, boards, waits: NEVER_WAITS, metrics: new Metrics() },
      ASSIGNMENT,
      start,
    );
    const nextOffset = FULL_CALL.entries + 2;
    let runs = 0;
    const records = Array.from({ length: nextOffset }, (_, offset) =>
      recordOf(offset, 'arena', `p${offset}`),
    );
    for await (const { through } of applier.apply(records, { from: 0, published: 0, nextOffset })) {
      runs += 1;
      if (through === nextOffset - 1) continue;
      await makeLive('next', { ...arena, columns });
      await boards.refresh(); // as another partition does
    }

    const reader = new BoardReader({ redis, prefix: keys.prefix });
    const { entries } = await reader.standings('arena', { view: 'all', limit: 9 });
    expect(runs).toBe(2);
    expect(entries.map(({ columns }) => columns)).toEqual([{ points: '1.00' }, { points: '1.00' }]);
  });
});

it('splits a run again if it costs more than a call on the boards that became live meanwhile', async () => {
  const fixture = await new StoreFixture(redis, newKeys()).register(arena);
  const { keys, token } = fixture;
  const store = new WatchedStore(redis, keys, { shards: 1 });
  const boards = new LiveBoards(store);
  await boards.refresh();
  const windows = Array.from({ length: 32 }, (_, i) => {
    return { kind: 'season', name: `s${i}`, from: 0, to: 2 * T0 } as const;
  });
  await redis.hset(keys.definitions(0), 'wide', definitionText({ ...arena, windows }));
  const calls: ApplyCall[] = [];
  store.beforeCall = async (call) => {
    if (calls.length === 0) await pointTo(redis, keys.live(0), 'arena', 'wide');
    calls.push(call);
  };
  const records = Array.from({ length: FULL_CALL.entries }, (_, offset) =>
    recordOf(offset, 'arena', `p${offset}`),
  );
  const start = { appliedOffsets: [-1], continuity: [token] };
  const services = { store, boards, waits: NEVER_WAITS, metrics: new Metrics() };
  const applier = new Applier(services, ASSIGNMENT, start);
  const position = { from: 0, published: 0, nextOffset: records.length };
  const runs = await runsOf(applier.apply(records, position));
  const results = runs.flatMap(({ verdicts }) => verdicts.map(({ verdict }) => verdict.offset));
  const updates = calls.map(({ entries }) =>
    entries.reduce(
      (sum, entry) => sum + (entry.kind === 'event' ? entry.event.views.length : 0),
      0,
    ),
  );
  expect(updates[0]).toBe(FULL_CALL.entries);
  expect(Math.max(...updates.slice(1))).toBeLessThanOrEqual(FULL_CALL.viewUpdates);
  expect(results).toEqual(records.map(({ offset }) => offset));
});

describe('the count of events by board', () => {
  it('leaves out events that were applied before, and are read again for their results', async () => {
    const { store, token } = await new StoreFixture(redis, newKeys()).register(arena);
    const boards = new LiveBoards(store);
    await boards.refresh();
    const metrics = new Metrics();
    const services = { store, boards, waits: NEVER_WAITS, metrics };
    const names = ['arena', 'unknown', 'arena', 'arena'];
    const records = names.map((name, offset) => recordOf(offset, name, `p${offset}`));
    const apply = (until: number, appliedOffset: number) =>
      runsOf(
        new Applier(services, ASSIGNMENT, {
          appliedOffsets: [appliedOffset],
          continuity: [token],
        }).apply(records.slice(0, until), { from: 0, published: 0, nextOffset: until }),
      );
    await apply(3, -1);
    await apply(4, 2);
    const { values } = await metrics.counters.ranklog_events_total.get();
    expect(values).toMatchObject([{ labels: { board: 'arena' }, value: 3 }]);
  });
});

describe('an event whose board changes before its result is published', () => {
  let keys: KeySpace;
  let store: BoardStore;
  let boards: LiveBoards;
  let definition: BoardDefinition;
  let continuity: string[];

  beforeEach(async () => {
    keys = newKeys();
    store = new BoardStore(redis, keys, { shards: SHARDS });
    const names = Array.from({ length: 50 }, (_, number) => `b${number}`);
    const board = names.find((name) => store.shardOf(name) === OTHER_SHARD) ?? '';
    definition = { ...arena, board };
    const elsewhere = names.find((name) => store.shardOf(name) === 0) ?? '';
    await store.registerBoards([definition, { ...arena, board: elsewhere }]);
    boards = new LiveBoards(store);
    await boards.refresh();
    const shards = new ContinuityStore(redis, keys, { shards: SHARDS });
    continuity = [await comparedToken(shards, 0), await comparedToken(shards, 1)];
  });

  /**
   * Starts the partition at the offset of the event, applies the event, and returns the kinds of
   * the verdicts.
   */
  async function verdictsOf(
    appliedOffsets = [-1, -1],
    beforeCall: WatchedStore['beforeCall'] = () => Promise.resolve(),
  ): Promise<string[]> {
    const watched = new WatchedStore(redis, keys, { shards: SHARDS });
    watched.beforeCall = beforeCall;
    const start = { appliedOffsets, continuity };
    const services = { store: watched, boards, waits: NEVER_WAITS, metrics: new Metrics() };
    const applier = new Applier(services, ASSIGNMENT, start);
    const position = { from: 0, published: 0, nextOffset: 1 };
    const runs = await runsOf(applier.apply([recordOf(0, definition.board, 'p')], position));
    return runs.flatMap(({ verdicts }) => verdicts.map(({ verdict }) => verdict.kind));
  }

  async function remove(): Promise<void> {
    await pointTo(redis, keys.live(OTHER_SHARD), definition.board);
    await redis.sadd(keys.removed(OTHER_SHARD), definition.board);
  }

  it.each<[string, () => Promise<unknown>]>([
    ['is removed', remove],
    [
      'has a new generation that begins after the event',
      async () => {
        const { generation = '' } = boards.current.live.get(definition.board) ?? {};
        await redis.hset(keys.starts(OTHER_SHARD), generation, '{"0":1}');
        await pointTo(redis, keys.live(OTHER_SHARD), definition.board, generation);
      },
    ],
    ['is built again', () => pointTo(redis, keys.live(OTHER_SHARD), definition.board, '-')],
  ])('keeps its result when the board %s', async (_, change) => {
    expect(await verdictsOf()).toEqual(['rankChange']);
    await change();
    await boards.refresh();
    expect(await verdictsOf([0, 0])).toEqual(['rankChange']);
  });

  it('is a dead letter when the board is removed during its apply calls', async () => {
    let isRemoved = false;
    const kinds = await verdictsOf([-1, -1], async ({ shard }) => {
      if (shard !== OTHER_SHARD || isRemoved) return;
      isRemoved = true;
      await remove();
    });
    expect(kinds).toEqual(['deadLetter']);
  });
});

describe('a run', () => {
  const SOME = 3;
  let store: WatchedStore;
  let applier: Applier;
  let boards: string[];
  let called: number[];

  beforeEach(() => open(SOME));

  async function open(shardCount: number): Promise<void> {
    const keys = newKeys();
    store = new WatchedStore(redis, keys, { shards: shardCount });
    const names = Array.from({ length: 50 }, (_, number) => `b${number}`);
    boards = Array.from(store.allShards, (shard) => {
      return names.find((name) => store.shardOf(name) === shard) ?? '';
    });
    await store.registerBoards(boards.map((board) => ({ ...arena, board })));
    const live = new LiveBoards(store);
    await live.refresh();
    const shards = new ContinuityStore(redis, keys, { shards: shardCount });
    const continuity = await Promise.all(
      store.allShards.map((shard) => comparedToken(shards, shard)),
    );
    const services = { store, boards: live, waits: NEVER_WAITS, metrics: new Metrics() };
    const start = { appliedOffsets: store.allShards.map(() => -1), continuity };
    applier = new Applier(services, ASSIGNMENT, start);
    called = [];
    store.beforeCall = ({ shard }) => Promise.resolve(void called.push(shard));
  }

  const apply = (from: number, ...shards: number[]) => {
    const records = shards.map((shard, index) =>
      recordOf(from + index, boards[shard] ?? '', `p${from + index}`),
    );
    const nextOffset = from + records.length;
    return runsOf(applier.apply(records, { from, published: 0, nextOffset }));
  };

  it('goes to the shards of its records; the others get its last offset', async () => {
    await apply(0, 1, 1);
    expect(called).toEqual([1]);
    expect(await store.appliedOffsets(0)).toEqual([-1, 1, -1]);
    await apply(2, 2);
    expect(called).toEqual([1, 2]);
    await applier.sendOffset(2, 0);
    expect(called).toEqual([1, 2, 0, 1]);
    expect(await store.appliedOffsets(0)).toEqual([2, 2, 2]);
    await applier.sendOffset(2, 0);
    expect(called).toHaveLength(4);
  });

  it('is one call, from its first offset to its last, if there is one shard', async () => {
    await open(1);
    const calls: string[] = [];
    store.beforeCall = ({ from, through, believed }) =>
      Promise.resolve(void calls.push(`${from} to ${through} after ${believed}`));
    await apply(0, 0, 0);
    await apply(2);
    await runsOf(applier.apply([], { from: 2, published: 0, nextOffset: 4 }));
    await applier.sendOffset(3, 0);
    await apply(3, 0, 0);
    await applier.keepUp(4);
    expect(calls).toEqual([
      '0 to 1 after -1',
      '2 to 1 after 1',
      '2 to 3 after 1',
      '3 to 4 after 3',
      '5 to 4 after 4',
    ]);
  });

  it('without records goes to the home shard of the partition', async () => {
    await runsOf(applier.apply([], { from: 0, published: 0, nextOffset: 7 }));
    expect(called).toEqual([0]);
    expect(await store.appliedOffsets(0)).toEqual([6, -1, -1]);
  });

  it('is refused by each of its shards if records before it were not read', async () => {
    await apply(0, 1);
    await expect(apply(2, 2)).rejects.toThrow('those from offset 0 on are not applied yet');
    expect(await store.appliedOffsets(0)).toEqual([-1, 0, -1]);
  });

  it('goes to its shards at the same time', async () => {
    const begun = new Set<number>();
    store.beforeCall = async ({ shard }) => {
      begun.add(shard);
      await eventually(() => begun.size === SOME, 'each shard has its call', 10);
    };
    const [run] = await apply(0, 2, 0, 1);
    expect(run?.verdicts.map(({ verdict }) => verdict.offset)).toEqual([0, 1, 2]);
  });

  it('fails only after its calls to all shards have ended', async () => {
    let hasFailed = false;
    let hasEnded = false;
    store.beforeCall = async ({ shard }) => {
      hasFailed ||= shard === 0;
      if (shard === 0) throw new Error('shard 0 is away');
      await eventually(() => hasFailed, 'the call to the other shard has failed', 10);
      await delay(0);
      hasEnded = true;
    };
    await expect(apply(0, 0, 1)).rejects.toThrow('shard 0 is away');
    expect(hasEnded).toBe(true);
  });

  it('waits for the call that sends the shard the offset of the run before', async () => {
    const begun: string[] = [];
    let go: (() => void) | undefined;
    store.beforeCall = async ({ shard, entries }) => {
      begun.push(`${shard} ${entries.length}`);
      if (entries.length === 0) await new Promise<void>((resolve) => (go = resolve));
    };
    await apply(0, 1);
    const sending = applier.sendOffset(0, 0);
    await eventually(() => begun.length === 3, 'both other shards have a call', 10);
    const applying = apply(1, 2);
    await delay(0); // it would have begun by now
    expect(begun).toEqual(['1 1', '0 0', '2 0']);
    store.beforeCall = () => Promise.resolve();
    go?.(); // shard 2: its call began last
    await applying;
    expect((await store.appliedOffsets(0))[2]).toBe(1);
    expect(await Promise.race([sending.then(() => 'sent'), delay(0, 'waits')])).toBe('waits');
  });
});
