import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { RedisServer } from '../support/redis-server.js';
import { arena, StoreFixture } from './fixture.js';
import { openTestRedis } from './test-redis.js';

const { newKeys, close } = openTestRedis();
afterAll(close);

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.remove());

/** Commands that Redis has run, also from scripts, and bytes that it was sent. */
async function counters() {
  const [commands, stats] = [
    await server.redis.info('commandstats'),
    await server.redis.info('stats'),
  ];
  const runs = [...commands.matchAll(/^cmdstat_(?!info)\S+:calls=(\d+)/gm)].map(([, calls]) =>
    Number(calls),
  );
  const [, bytes] = /total_net_input_bytes:(\d+)/.exec(stats)!;
  return { commands: runs.reduce((sum, calls) => sum + calls, 0), bytes: Number(bytes) };
}

/** What some calls without entries cost, in a shard of so many boards. */
async function costOfIdleCalls(boards: number) {
  const fixture = await new StoreFixture(server.redis, newKeys()).register(arena);
  const names = Array.from({ length: boards - 1 }, (_, index) => `tournament-${index}`);
  const { live } = await fixture.store.registerBoards(names.map((board) => ({ ...arena, board })));
  await fixture.refresh();
  const call = fixture.call([], { boards: live });
  const idle = async () =>
    expect(await fixture.store.apply(call)).toMatchObject({ status: 'applied' });
  await idle();
  const before = await counters();
  for (let calls = 0; calls < 10; calls++) await idle();
  const after = await counters();
  return { commands: after.commands - before.commands, bytes: after.bytes - before.bytes };
}

it('a call without entries costs the same with 1,000 boards as with one', async () => {
  const [one, thousand] = [await costOfIdleCalls(1), await costOfIdleCalls(1_000)];
  expect(thousand.commands).toBe(one.commands);
  expect(Math.abs(thousand.bytes - one.bytes)).toBeLessThan(200); // versions and prefixes differ in width
});

it('boards that have not changed are not read again', async () => {
  const { store } = await new StoreFixture(server.redis, newKeys()).register(arena);
  const boards = await store.boards();
  const before = await counters();
  expect(await store.boards()).toBe(boards);
  expect((await counters()).commands - before.commands).toBe(1);
  await store.registerBoards([{ ...arena, board: 'other' }]);
  expect([...(await store.boards()).live.keys()].sort()).toEqual(['arena', 'other']);
});
