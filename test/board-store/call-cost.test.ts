import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { BoardDefinition } from '#board';
import { RedisServer } from '../support/redis-server.js';
import { arena, scored, StoreFixture } from './fixture.js';
import { dumpKeys } from './test-redis.js';

let own: RedisServer;
beforeAll(async () => {
  own = await RedisServer.start();
});
afterAll(() => own.remove());

const columns = ['points', 'difference'].map((name) => ({ ...arena.columns[0]!, name }));

/** A board of two columns on which one player leads and `players` others are tied. */
async function tied(players: number, fields: Partial<BoardDefinition> = {}): Promise<StoreFixture> {
  const fixture = new StoreFixture(own.redis, own.newKeys());
  await fixture.register({ ...arena, columns, ...fields });
  const crowd = Array.from({ length: players }, (_, index) => scored(nameOf(index), [1, 1]));
  await fixture.apply([scored('leader', [1, 2]), ...crowd], { published: players + 1 });
  return fixture;
}

/** Ids that sort by their number. */
function nameOf(index: number): string {
  return `p${String(index).padStart(4, '0')}`;
}

/**
 * How many commands but INFO Redis has executed, those of scripts included, and how many bytes it
 * has received.
 */
async function counters() {
  const [commands, stats] = [await own.redis.info('commandstats'), await own.redis.info('stats')];
  const runs = [...commands.matchAll(/^cmdstat_(?!info)\S+:calls=(\d+)/gm)].map(([, calls]) =>
    Number(calls),
  );
  const [, bytes] = /total_net_input_bytes:(\d+)/.exec(stats)!;
  return { commands: runs.reduce((sum, calls) => sum + calls, 0), bytes: Number(bytes) };
}

describe('a tie in several columns', () => {
  it.each(['earliest', 'none'] as const)(
    'leaves no member in the ranking but those of the players, also in the append-only file (ties: %s)',
    async (ties) => {
      const fixture = await tied(3, { ties });
      await fixture.apply([scored(nameOf(2), [0, 1])], { from: 4 });
      const { keys, live } = fixture;
      expect(await own.redis.zcard(keys.ranking(0, live.generation, 'all'))).toBe(4);
      const before = await dumpKeys(own.redis, keys);
      await own.kill();
      await own.start();
      expect(await dumpKeys(own.redis, keys)).toEqual(before);
    },
  );
});

/** The cost of some calls without entries, in a shard with `boards` boards. */
async function costOfIdleCalls(boards: number) {
  const fixture = await new StoreFixture(own.redis, own.newKeys()).register(arena);
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
  // versions and prefixes differ in width
  expect(Math.abs(thousand.bytes - one.bytes)).toBeLessThan(200);
});

it('boards that have not changed are not read again', async () => {
  const { store } = await new StoreFixture(own.redis, own.newKeys()).register(arena);
  const boards = await store.boards();
  const before = await counters();
  expect(await store.boards()).toBe(boards);
  expect((await counters()).commands - before.commands).toBe(1);
  await store.registerBoards([{ ...arena, board: 'other' }]);
  expect([...(await store.boards()).live.keys()].sort()).toEqual(['arena', 'other']);
});
