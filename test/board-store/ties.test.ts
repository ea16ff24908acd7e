import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { BoardDefinition } from '#board';
import { RedisServer } from '../support/redis-server.js';
import { arena, movements, scored, StoreFixture } from './fixture.js';
import { dumpKeys, openTestRedis } from './test-redis.js';

const { newKeys, close } = openTestRedis();
let own: RedisServer;
beforeAll(async () => {
  own = await RedisServer.start();
});
afterAll(async () => {
  await own.remove();
  await close();
});

const columns = ['points', 'difference'].map((name) => ({ ...arena.columns[0]!, name }));

/** A board of two columns on which one player leads and so many others are equal. */
async function tied(players: number, fields: Partial<BoardDefinition> = {}): Promise<StoreFixture> {
  const fixture = new StoreFixture(own.redis, newKeys());
  await fixture.register({ ...arena, columns, ...fields });
  const crowd = Array.from({ length: players }, (_, index) => scored(nameOf(index), [1, 1]));
  await fixture.apply([scored('leader', [1, 2]), ...crowd], { published: players + 1 });
  return fixture;
}

/** Ids that sort by their number. */
function nameOf(index: number): string {
  return `p${String(index).padStart(4, '0')}`;
}

/** How many commands on sorted sets the scripts have run since `CONFIG RESETSTAT`. */
async function sortedSetCommands(): Promise<number> {
  const stats = await own.redis.info('commandstats');
  return [...stats.matchAll(/cmdstat_z\w+:calls=(\d+)/g)].reduce(
    (sum, [, calls]) => sum + Number(calls),
    0,
  );
}

describe('a tie in several columns', () => {
  it('takes the same number of commands at any length', async () => {
    const commands: number[] = [];
    for (const players of [4, 4_000]) {
      const fixture = await tied(players);
      await own.redis.config('RESETSTAT');
      const last = scored(nameOf(players - 1), [0, 1]);
      const verdicts = await fixture.apply([last], {
        from: players + 1,
        published: players + 1,
      });
      expect(movements(verdicts)).toEqual([`${players + 1} (2) -> 2 (1)`]);
      commands.push(await sortedSetCommands());
    }
    expect(commands[1]).toBe(commands[0]);
  });

  it.each(['earliest', 'none'] as const)(
    'leaves only the players as members, also in the append-only file (ties: %s)',
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
