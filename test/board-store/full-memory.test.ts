import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { isOutOfMemory } from '#board-store';
import { RedisServer } from '../support/redis-server.js';
import { movements, scored, stretchOf } from './fixture.js';
import { EVENTS, GenerationFixture } from './generation-fixture.js';
import { dumpKeys } from './test-redis.js';

const STRETCH = stretchOf(EVENTS);

let own: RedisServer;
let fixture: GenerationFixture;
beforeAll(async () => {
  own = await RedisServer.start();
});
afterAll(() => own.remove());
beforeEach(async () => {
  await own.redis.config('SET', 'maxmemory', '0');
  fixture = await GenerationFixture.make(own);
});

const fill = () => own.redis.config('SET', 'maxmemory', '1');
const expectRefused = async (work: () => Promise<unknown>): Promise<void> => {
  const before = await dumpKeys(own.redis, fixture.keys);
  const failure: unknown = await work().catch((error: unknown) => error);
  expect(isOutOfMemory(failure)).toBe(true);
  expect(await dumpKeys(own.redis, fixture.keys)).toEqual(before);
};

it('an apply call writes nothing when memory is full, and goes on once there is room', async () => {
  await fill();
  await expectRefused(() => fixture.apply([scored('a', [1])], { from: 2 }));
  await own.redis.config('SET', 'maxmemory', '0');
  expect(movements(await fixture.apply([scored('a', [1])], { from: 2 }))).toEqual([
    '2 (2) -> 2 (2)',
  ]);
});

it('a shadow catches up no further when memory is full', async () => {
  const shadow = await fixture.begin();
  await fill();
  await expectRefused(() => fixture.generations.catchUp(fixture.lease, shadow, [STRETCH]));
});

it('boards are read when memory is full', async () => {
  await fill();
  const reader = fixture.reader();
  const page = await reader.standings('arena', { view: 'all', limit: 9 });
  expect(page.entries.map(({ playerId }) => playerId)).toEqual(['b', 'a']);
  expect(await reader.player('arena', 'a')).toMatchObject({ standing: { rank: 2 } });
  expect(await reader.views('arena')).toMatchObject([{ view: 'all', size: 2 }]);
  expect(await fixture.status().overviews()).toMatchObject([{ board: 'arena', views: 1 }]);
});

it.each(['build', 'killed build', 'snapshot'])(
  'the generation of a %s is discarded and freed when memory is full',
  async (kind) => {
    const { generations, catalog, lease } = fixture;
    const shadow = await fixture.build(EVENTS, {
      purpose: kind === 'snapshot' ? 'snapshot' : 'build',
    });
    if (kind === 'snapshot') await generations.keepAsSnapshot(lease, shadow);
    if (kind.startsWith('killed')) await fixture.killHolder();
    await fill();
    if (kind === 'build') await generations.discard(lease, shadow);
    else if (kind === 'snapshot')
      expect(await catalog.removeSnapshot(shadow.generation)).toBe(true);
    else expect(await catalog.discardShadow(shadow.generation)).toBe('arena');
    await fixture.sweep();
    expect(await fixture.keysOf(shadow)).toEqual([]);
  },
);

it('the shadow of a rollback becomes previous again when memory is full', async () => {
  await fixture.makeLive(await fixture.build());
  const previous = await fixture.previousEntry();
  const back = await fixture.generations.beginRollback(fixture.lease);
  await fill();
  await fixture.generations.discard(fixture.lease, back);
  expect(await fixture.previousEntry()).toBe(previous);
});

it('a previous generation past its grace time is discarded when memory is full', async () => {
  const { live } = fixture;
  await fixture.makeLive(await fixture.build(), [], 0);
  await fill();
  await fixture.sweep();
  expect(await fixture.keysOf(live)).toEqual([]);
});

it('the registration of a board is undone when memory is full', async () => {
  const late = { ...fixture.live.definition, board: 'late' };
  expect([...(await fixture.store.registerBoards([late])).building]).toEqual(['late']);
  const lease = await fixture.leases.acquire('late', 'test');
  await fill();
  await fixture.generations.remove(lease, { unregisters: true });
  expect((await fixture.store.boards()).building.size).toBe(0);
});
