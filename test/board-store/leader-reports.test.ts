import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { BoardDefinition, ResolvedEvent } from '#board';
import { GenerationCatalog, GenerationStore, LeaseStore, type Verdict } from '#board-store';
import { arena, lasting, scored, StoreFixture, stretchOf, verdictsOf } from './fixture.js';
import { openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

const top2: BoardDefinition = { ...arena, publish: { ...arena.publish, leaders: 2 } };
const both = [
  scored('a', [3], { views: lasting('all', 'all x=1') }),
  scored('b', [5], { views: lasting('all', 'all x=1') }),
];
const allOnly = both.map((event) => ({ ...event, views: lasting('all') }));

let fixture: StoreFixture;
let generations: GenerationStore;
let next: number;
beforeEach(async () => {
  fixture = await new StoreFixture(redis, newKeys()).register(top2);
  generations = new GenerationStore(redis, fixture.keys, { shards: 1 });
  await fixture.apply(both);
  next = both.length;
});

/** Makes a build of these events live; the generation before is kept for so long. */
async function promote(events: readonly ResolvedEvent[], definition = top2, graceMs = 0) {
  const leases = new LeaseStore(redis, fixture.keys, { shards: 1 });
  const lease = await leases.acquire('arena', 'test');
  const shadow = await generations.begin(lease, { definition, purpose: 'build' });
  await generations.catchUp(lease, shadow, [stretchOf(events)]);
  const outcome = await generations.promote(lease, shadow, [], { graceMs });
  expect(outcome).toMatchObject({ status: 'applied', ending: {} });
  await leases.release(lease);
  const { live, versions } = await fixture.store.boards();
  fixture.live = live.get('arena')!;
  fixture.version = versions[0]!;
}

/** The leader changes of one more event: view, what it starts from and its top. */
async function leaderChanges(event: ResolvedEvent) {
  const call = fixture.call([event], { from: next++ });
  return verdictsOf(await fixture.store.apply(call)).flatMap((verdict: Verdict) =>
    verdict.kind === 'leaderChange'
      ? [
          {
            view: verdict.view,
            isFirst: verdict.since === null,
            before: verdict.before,
            top: verdict.top.map(({ playerId }) => playerId),
          },
        ]
      : [],
  );
}

const reported = async () => (await redis.hkeys(fixture.keys.leaders(0, 'arena'))).sort();

describe('reports of leaders after a promotion', () => {
  it('go on in a view that both generations have, and begin anew in one that comes back', async () => {
    await promote(allOnly, top2, 60_000);
    const changes = await leaderChanges(scored('c', [9], { views: lasting('all', 'all x=1') }));
    expect(changes).toEqual([
      { view: 'all', isFirst: false, before: ['b', 'a'], top: ['c', 'b'] },
      { view: 'all x=1', isFirst: true, before: [], top: ['c'] },
    ]);
  });

  it('are deleted with the old generation if the new one lacks their view', async () => {
    await promote(allOnly);
    expect(await reported()).toEqual(['all', 'all x=1']);
    const catalog = new GenerationCatalog(redis, fixture.keys, { shards: 1 });
    while ((await catalog.sweep()) > 0);
    expect(await reported()).toEqual(['all']);
  });

  it('are all deleted if the new definition reports no leaders', async () => {
    await promote(both, arena);
    expect(await reported()).toEqual([]);
    await promote(both, top2);
    const changes = await leaderChanges(scored('b', [1]));
    expect(changes).toEqual([{ view: 'all', isFirst: true, before: [], top: ['b', 'a'] }]);
  });
});
