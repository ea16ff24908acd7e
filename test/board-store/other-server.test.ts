import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  GenerationStore,
  KeySpace,
  LeaseStore,
  type CatchUpOutcome,
  type ComparisonWalk,
  type Lease,
  type Shadow,
} from '#board-store';
import { RedisServer } from '../support/redis-server.js';
import { arena, scored, StoreFixture, stretchOf } from './fixture.js';
import { dumpKeys } from './test-redis.js';

/** More than one call compares. */
const EVENTS = Array.from({ length: 1_500 }, (_, index) => scored(`player-${index}`, [index]));

describe('a comparison, when Redis is another server between two of its pages', () => {
  let own: RedisServer;
  let replica: RedisServer | undefined;
  let fixture: StoreFixture;
  let generations: GenerationStore;
  let lease: Lease;
  let shadow: Shadow;

  beforeEach(async () => {
    own = await RedisServer.start();
    fixture = await new StoreFixture(own.redis, new KeySpace('test')).register(arena);
    await fixture.apply(EVENTS);
    generations = new GenerationStore(own.redis, fixture.keys, { shards: 1 });
    lease = await new LeaseStore(own.redis, fixture.keys, { shards: 1 }).acquire('arena', 'test');
    await own.redis.persist(fixture.keys.lease(0, 'arena')); // nobody renews it
    shadow = await generations.begin(lease, { definition: arena, purpose: 'verify' });
    await generations.catchUp(lease, shadow, [stretchOf(EVENTS)]);
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

  const serverNow = async () => endingOf(await generations.compare(lease, shadow, [])).next!.server;
  const compare = (server: string, over: ComparisonWalk['over'], cursor: string) => {
    const walk = { over, name: over === 'eventIds' ? '0' : 'all', cursor };
    return generations.compare(lease, shadow, [], { server, walk, rest: [] });
  };

  it.each([
    ['it was started again', started],
    ['a replica was promoted', promoted],
  ])(
    'goes no further when %s, whose cursors are others, and can begin again',
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
});

function endingOf<T>(outcome: CatchUpOutcome<T>): T {
  if (outcome.status !== 'applied' || outcome.ending === undefined)
    throw new Error(`no ending: ${JSON.stringify(outcome)}`);
  return outcome.ending;
}
