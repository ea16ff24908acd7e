import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { BoardDefinition } from '#board';
import {
  BoardStore,
  ContinuityStore,
  type ApplyCall,
  type ApplyOutcome,
  type KeySpace,
} from '#board-store';
import type { KafkaRecord } from '#kafka-batch';
import { Applier } from '../../src/ingest/applier.js';
import { LiveBoards } from '../../src/ingest/live-boards.js';
import { arena, comparedToken, pointTo, T0 } from '../board-store/fixture.js';
import { openTestRedis } from '../board-store/test-redis.js';
import { NEVER_WAITS } from './never-waits.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

const SHARDS = 2;
/** The partition's records that can't be read are shard 0's: this board is not there. */
const PARTITION = 0;
const OTHER_SHARD = 1;

const record: KafkaRecord = {
  offset: 0,
  timestamp: T0,
  key: null,
  value: Buffer.from(''),
  headers: {},
};

class WatchedStore extends BoardStore {
  beforeCall: (shard: number) => Promise<void> = () => Promise.resolve();

  override async apply(call: ApplyCall): Promise<ApplyOutcome> {
    await this.beforeCall(call.shard);
    return super.apply(call);
  }
}

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
    boards = new LiveBoards(store, () => Promise.resolve());
    await boards.refresh();
    const shards = new ContinuityStore(redis, keys, { shards: SHARDS });
    continuity = [await comparedToken(shards, 0), await comparedToken(shards, 1)];
  });

  /** What a process tells that starts at the event: kinds of verdicts. */
  async function told(
    appliedOffsets = [-1, -1],
    beforeCall: (shard: number) => Promise<void> = () => Promise.resolve(),
  ): Promise<string[]> {
    const watched = new WatchedStore(redis, keys, { shards: SHARDS });
    watched.beforeCall = beforeCall;
    const start = { appliedOffsets, continuity, offset: 0 };
    const applier = new Applier({ store: watched, boards }, PARTITION, start, NEVER_WAITS);
    const value = Buffer.from(
      JSON.stringify({ board: definition.board, playerId: 'p', delta: '1' }),
    );
    const kinds: string[] = [];
    await applier.apply(
      [{ ...record, value }],
      { from: 0, published: 0, nextOffset: 1 },
      ({ verdicts }) => {
        kinds.push(...verdicts.map(({ verdict }) => verdict.kind));
        return Promise.resolve();
      },
    );
    return kinds;
  }

  async function remove(): Promise<void> {
    await pointTo(redis, keys.live(OTHER_SHARD), definition.board);
    await redis.sadd(keys.removed(OTHER_SHARD), definition.board);
  }

  it('is told as it was applied when the board is removed', async () => {
    expect(await told()).toEqual(['rankChange']);
    await remove();
    await boards.refresh();
    expect(await told([0, 0])).toEqual(['rankChange']);
  });

  it('is told as it was applied when the new generation begins after it', async () => {
    expect(await told()).toEqual(['rankChange']);
    const { generation } = boards.current.live.get(definition.board) ?? {};
    await redis.hset(keys.starts(OTHER_SHARD), generation ?? '', '{"0":1}');
    await pointTo(redis, keys.live(OTHER_SHARD), definition.board, generation);
    await boards.refresh();
    expect(await told([0, 0])).toEqual(['rankChange']);
  });

  it('is told as it was applied when the board is built anew', async () => {
    expect(await told()).toEqual(['rankChange']);
    await pointTo(redis, keys.live(OTHER_SHARD), definition.board, '-');
    await boards.refresh();
    expect(await told([0, 0])).toEqual(['rankChange']);
  });

  it('is a dead letter when the board is removed while the event is on its way to the shards', async () => {
    let isRemoved = false;
    const kinds = await told([-1, -1], async (shard) => {
      if (shard !== OTHER_SHARD || isRemoved) return;
      isRemoved = true;
      await remove();
    });
    expect(kinds).toEqual(['deadLetter']);
  });
});
