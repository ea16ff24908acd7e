import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  BoardStore,
  ContinuityStore,
  IdentityCheck,
  OtherIdentityError,
  type KeySpace,
} from '#board-store';
import { arena, comparedToken } from './fixture.js';
import { openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

const SHARDS = 2;
const ours = { cluster: 'c', topicPrefix: 't', group: 'g1', redisPrefix: 'p', shards: SHARDS };

let keys: KeySpace;
beforeEach(() => {
  keys = newKeys();
});

function storeOf(identity: Partial<typeof ours> = {}) {
  const check = new IdentityCheck({ ...ours, ...identity });
  return new BoardStore(redis, keys, { shards: check.ours.shards ?? SHARDS, identity: check });
}

describe('an identity', () => {
  it.each([
    [{ cluster: 'other' }, 'the Kafka cluster (KAFKA_BROKERS) is c there and other here'],
    [{ topicPrefix: 'other' }, 'RANKLOG_TOPIC_PREFIX is t there and other here'],
    [{ group: 'g2' }, 'RANKLOG_GROUP is g1 there and g2 here'],
    [{ redisPrefix: 'other' }, 'RANKLOG_REDIS_PREFIX is p there and other here'],
    [{ shards: 3 }, 'RANKLOG_SHARDS is 2 there and 3 here'],
  ])('that a shard has stored refuses a process with %j', async (other, text) => {
    await storeOf().claim();
    await storeOf().claim();
    await expect(storeOf(other).claim()).rejects.toThrow(text);
    const facts = { constructor: OtherIdentityError, isMovable: !('shards' in other) };
    await expect(storeOf(other).check()).rejects.toThrow(expect.objectContaining(facts));
    await storeOf().check();
  });

  it('is stored in every shard, and stays when boards are registered', async () => {
    const store = storeOf();
    await store.claim();
    const { versions } = await store.registerBoards([arena]);
    expect(versions.map((version) => version.replace(/^\d+ /, ''))).toEqual([
      JSON.stringify(ours),
      JSON.stringify(ours),
    ]);
  });

  it('is added to data that has none, unless the number of shards differs', async () => {
    await new BoardStore(redis, keys, { shards: SHARDS }).registerBoards([arena]);
    await redis.set(keys.shards(), String(SHARDS)); // as versions without identities left it
    await storeOf().check();
    await expect(storeOf({ shards: 3 }).claim()).rejects.toThrow('RANKLOG_SHARDS is 2 there');
    await storeOf().claim();
    await expect(storeOf({ group: 'g2' }).claim()).rejects.toThrow('RANKLOG_GROUP');
  });

  it('that replaces another one refuses the next call of a process with the old one, which reports the new one once', async () => {
    const check = new IdentityCheck(ours);
    const reported: string[] = [];
    check.onOther = ({ message }) => reported.push(message);
    const store = new BoardStore(redis, keys, { shards: SHARDS, identity: check });
    await store.claim();
    const { versions } = await store.registerBoards([arena]);
    const continuity = await comparedToken(new ContinuityStore(redis, keys, { shards: SHARDS }), 0);
    const idle = {
      shard: 0,
      partition: 0,
      from: 0,
      believed: -1,
      published: 0,
      through: -1,
      entries: [],
    };
    const call = { ...idle, boards: new Map(), continuity, version: versions[0]! };
    expect(await store.apply(call)).toMatchObject({ status: 'applied' });
    await storeOf({ group: 'g2' }).claim({ moves: true });
    expect(await store.apply(call)).toEqual({ status: 'generationChanged' });
    for (let times = 0; times < 2; times++)
      await expect(store.boards()).rejects.toThrow('RANKLOG_GROUP is g2 there and g1 here');
    expect(reported).toHaveLength(1);
    expect([...(await storeOf({ group: 'g2' }).boards()).live.keys()]).toEqual(['arena']);
  });
});
