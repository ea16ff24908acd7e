import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { KeySpace } from '#board-store';
import { runs } from '../model/arbitrary.js';
import { RedisServer } from '../support/redis-server.js';
import { arena, lasting, scored, StoreFixture, T0 } from './fixture.js';

/** A run: few players who move often, or more players than one command takes. */
const points = fc.tuple(fc.nat({ max: 9 }), fc.integer({ min: -2, max: 2 }), fc.nat({ max: 3 }));
const crowd = fc.constant(Array.from({ length: 1_100 }, (_, index) => [index, index % 5, 0]));
const runsOfEvents = fc.array(
  fc.oneof({ weight: 9, arbitrary: fc.array(points, { minLength: 1 }) }, crowd),
  {
    minLength: 1,
    maxLength: 6,
  },
);

it('gives a replica and the append-only file the same rankings and states', async () => {
  const own = await RedisServer.start('--enable-debug-command', 'local');
  const replica = await RedisServer.start('--replicaof', '127.0.0.1', String(own.port));
  try {
    let space = 0;
    await fc.assert(
      fc.asyncProperty(runsOfEvents, fc.constantFrom('earliest', 'none'), async (all, ties) => {
        const keys = new KeySpace(`test${space++}`);
        const fixture = await new StoreFixture(own.redis, keys).register({ ...arena, ties });
        const { generation } = fixture.live;
        const content = async ({ redis }: RedisServer) => [
          await redis.zrange(keys.ranking(0, generation, 'all'), 0, -1, 'WITHSCORES'),
          await redis.zrange(keys.ranking(0, generation, 'day'), 0, -1, 'WITHSCORES'),
          await redis.hgetall(keys.players(0, generation, 'all')),
        ];
        let from = 0;
        for (const run of all) {
          const events = run.map(([player = 0, delta = 0, second = 0]) =>
            scored(`p${player}`, [delta], {
              occurredAt: T0 + 1_000 * second,
              views: lasting('all', 'day'),
            }),
          );
          await fixture.apply(events, { from });
          from += events.length;
        }
        const expected = await content(own);
        expect(await own.redis.wait(1, 10_000)).toBe(1);
        expect(await content(replica)).toEqual(expected);
        await own.redis.debug('LOADAOF');
        expect(await content(own)).toEqual(expected);
      }),
      runs(20),
    );
  } finally {
    await replica.remove();
    await own.remove();
  }
});
