import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  GenerationStore,
  UNRANKED,
  type ComparisonWalk,
  type RankingCursor,
  type Shadow,
} from '#board-store';
import { RedisServer } from '../support/redis-server.js';
import { lasting, scored } from './fixture.js';
import { endingOf, GenerationFixture } from './generation-fixture.js';
import { dumpKeys } from './test-redis.js';

/** More players than one call compares or ranks. */
const EVENTS = Array.from({ length: 1_500 }, (_, index) => scored(`player-${index}`, [index]));

describe('on another server', () => {
  let own: RedisServer;
  let replica: RedisServer | undefined;
  let fixture: GenerationFixture;
  let generations: GenerationStore;
  let shadow: Shadow;

  beforeEach(async () => {
    own = await RedisServer.start();
    fixture = await GenerationFixture.make(own, { events: EVENTS });
    ({ generations } = fixture);
    await own.redis.persist(fixture.keys.lease(0, 'arena'));
    shadow = await fixture.build(EVENTS, { purpose: 'verify' });
  });
  afterEach(async () => {
    await replica?.remove();
    replica = undefined;
    await own.remove();
  });

  const started = async () => {
    await own.kill();
    await own.start();
    return own.redis;
  };
  const promoted = async () => {
    replica = await RedisServer.start('--replicaof', '127.0.0.1', String(own.port));
    await own.redis.set('after all else', '');
    expect(await own.redis.wait(1, 10_000)).toBe(1);
    await replica.redis.replicaof('NO', 'ONE');
    generations = new GenerationStore(replica.redis, fixture.keys, { shards: 1 });
    return replica.redis;
  };

  const serverNow = async () =>
    endingOf(await generations.compare(fixture.lease, shadow, [])).next!.server;
  const compare = (server: string, over: ComparisonWalk['over'], cursor: string) => {
    const walk = { over, name: over === 'eventIds' ? '0' : 'all', cursor };
    return generations.compare(fixture.lease, shadow, [], { server, walk, rest: [] });
  };

  it.each([
    ['the server was restarted', started],
    ['a replica was promoted', promoted],
  ])(
    'a step of a comparison is refused when %s since the step before, and the comparison can begin again',
    async (_how, change) => {
      const server = await serverNow();
      const walks = ['players', 'extraPlayers', 'ranking'] as const;
      const cursors: string[] = [];
      for (const walk of walks) {
        const { next } = endingOf(await compare(server, walk, '0'));
        cursors.push(next!.walk.cursor);
      }
      expect(cursors).not.toContain('0');
      const redis = await change();
      const before = await dumpKeys(redis, fixture.keys);
      const refused = { status: 'serverChanged' };
      for (const [index, walk] of walks.entries()) {
        expect(await compare(server, walk, cursors[index] ?? '')).toEqual(refused);
        expect(await compare(server, walk, '0')).toEqual(refused);
      }
      for (const walk of ['views', 'extraViews', 'eventIds'] as const)
        expect(await compare(server, walk, '0')).toEqual(refused);
      expect(await dumpKeys(redis, fixture.keys)).toEqual(before);
      const another = await serverNow();
      expect(another).not.toBe(server);
      for (const walk of walks)
        expect(endingOf(await compare(another, walk, '0'))).toMatchObject({ differences: [] });
    },
  );

  const isRefused = async (build: Shadow) => {
    const promote = () => generations.promote(fixture.lease, build, [], { graceMs: 0 });
    expect(endingOf(await promote())).toBe(UNRANKED);
  };

  // Its calls: to find the views, to rank 1,000 and 500 players, and to end.
  it.each([2, 3, 4])(
    'call %i of a ranking is refused, and the ranking can begin again',
    async (nth) => {
      const build = await fixture.build(EVENTS);
      let cursor: RankingCursor | undefined;
      let ranked = 0;
      for (let call = 1; call < nth; call++) {
        const { players, next } = await generations.rank(fixture.lease, build, cursor);
        ranked += players;
        cursor = next;
      }
      expect(ranked >= EVENTS.length).toBe(nth === 4);
      await started();
      expect(cursor).toBeDefined();
      expect(await generations.rank(fixture.lease, build, cursor)).toEqual({ players: 0 });
      await isRefused(build);
      const { live } = fixture;
      await fixture.makeLive(build);
      expect(await fixture.ranking(build)).toEqual(await fixture.ranking(live));
    },
  );

  it('a call of a ranking that finds more views is refused', async () => {
    const build = await fixture.build(
      EVENTS.map((event, index) => ({ ...event, views: lasting(`all region=${index % 1_250}`) })),
    );
    let { next: cursor } = await generations.rank(fixture.lease, build);
    while (cursor !== undefined && cursor.views.length > 0)
      ({ next: cursor } = await generations.rank(fixture.lease, build, cursor));
    expect(cursor?.viewsCursor).toMatch(/^[1-9]/);
    await started();
    expect(await generations.rank(fixture.lease, build, cursor)).toEqual({ players: 0 });
    await isRefused(build);
  });
});
