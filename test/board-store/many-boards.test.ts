import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { BoardStore, ContinuityStore, GenerationCatalog, StoreStatus } from '#board-store';
import type { SendCommand } from '../../src/infra/redis.js';
import { arena } from './fixture.js';
import { openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

const BOARDS = 4_000;
/** A step of HSCAN may return more fields than it was asked for. */
const MOST_WORDS = 6_000;
const FAR = 9_000_000_000_000_000; // us: later than any clock

/** The commands that named or returned too many words. */
const tooLong: string[] = [];
const keys = newKeys();
const [store, continuity] = [
  new BoardStore(redis, keys, { shards: 1 }),
  new ContinuityStore(redis, keys, { shards: 1 }),
];
const definitions = Array.from({ length: BOARDS }, (_, index) => {
  return { ...arena, board: `b${index}`, publish: { ...arena.publish, leaders: 1 } };
});

beforeAll(async () => {
  const send = redis.sendCommand.bind(redis) as SendCommand;
  const watched: SendCommand = (command, ...rest) => {
    const note = (reply: unknown) => {
      const words = Array.isArray(reply) ? reply.flat(1).length : 0;
      const named = command.args.length;
      if (Math.max(words, named) > MOST_WORDS) tooLong.push(`${command.name} ${named} ${words}`);
    };
    command.promise.then(note, () => undefined); // whoever sent it gets its error
    return send(command, ...rest);
  };
  redis.sendCommand = watched;
  await store.claim();
});

/**
 * Resyncs the shard with a Kafka that has these promotions; returns how many boards lack theirs.
 */
async function outdated(since: number): Promise<number | undefined> {
  const begun = (await continuity.beginResync(0, await continuity.continuity(0)))!;
  const current = new Map(definitions.map(({ board }) => [board, { since }]));
  const recovered = await continuity.endResync(0, begun, new Map(), current);
  await continuity.release(begun);
  return recovered?.outdated.length;
}

it('no call names or returns all boards of a shard: they are registered, listed, resynced, removed in parts', async () => {
  const catalog = new GenerationCatalog(redis, keys, { shards: 1 });
  expect((await store.registerBoards(definitions)).live.size).toBe(BOARDS);
  expect((await store.promotions()).size).toBe(BOARDS);
  expect(await new StoreStatus(redis, keys).live()).toHaveLength(BOARDS);
  expect(await catalog.generations()).toHaveLength(BOARDS);
  expect(await outdated(1)).toBe(0);
  expect(await outdated(FAR)).toBe(BOARDS);
  while ((await catalog.sweep()) > 0);
  expect(await redis.hlen(keys.definitions(0))).toBe(0);
  expect(tooLong).toEqual([]);
});

it('a shard is registered only with the last part of its boards', async () => {
  const seen: boolean[] = [];
  const send = redis.ranklogRegister;
  redis.ranklogRegister = async (named) => {
    seen.push(await store.areRegistered());
    return send(named);
  };
  await store.registerBoards(definitions.slice(0, 2_500));
  expect(seen).toEqual([false, false, false]);
  expect(await store.areRegistered()).toBe(true);
});

it('a shard stays unregistered if Redis is emptied between two parts of its boards', async () => {
  const send = redis.ranklogRegister;
  const lost = newKeys();
  const emptied = new BoardStore(redis, lost, { shards: 1 });
  const some = definitions.slice(0, 2_500);
  let calls = 0;
  redis.ranklogRegister = async (named) => {
    calls += 1;
    if (calls === 3) await redis.del(lost.live(0), lost.definitions(0), lost.registered(0));
    return send(named);
  };
  expect((await emptied.registerBoards(some)).live.size).toBe(0);
  expect(await emptied.areRegistered()).toBe(false);
  expect((await emptied.registerBoards(some)).live.size).toBe(some.length);
  expect(await emptied.areRegistered()).toBe(true);
});
