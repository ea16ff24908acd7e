import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { BoardDefinition, ResolvedEvent } from '#board';
import type { PlayerEntry, Verdict } from '#board-store';
import { arena, lasting, scored, verdictsOf } from './fixture.js';
import { GenerationFixture } from './generation-fixture.js';
import { openTestRedis } from './test-redis.js';

const testRedis = openTestRedis();
afterAll(testRedis.close);

const top2: BoardDefinition = { ...arena, publish: { ...arena.publish, leaders: 2 } };
const both = [
  scored('a', [3], { views: lasting('all', 'all x=1') }),
  scored('b', [5], { views: lasting('all', 'all x=1') }),
];
const allOnly = both.map((event) => ({ ...event, views: lasting('all') }));

let fixture: GenerationFixture;
beforeEach(async () => {
  fixture = await GenerationFixture.make(testRedis, { definition: top2, events: both });
});

/**
 * Promotes a build of these events; the previous generation can be rolled back to for `graceMs`.
 */
async function promote(events: readonly ResolvedEvent[], definition = top2, graceMs = 0) {
  await fixture.makeLive(await fixture.build(events, { definition }), [], graceMs);
}

/** The leader changes of one more event: view, top before and top after. */
async function leaderChanges(event: ResolvedEvent) {
  const outcome = await fixture.store.apply(fixture.call([event], { from: both.length }));
  return verdictsOf(outcome).flatMap((verdict: Verdict) =>
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

/** The views of which Redis has a leader report: the top as last reported. */
const reported = async () => (await fixture.redis.hkeys(fixture.keys.leaders(0, 'arena'))).sort();

describe('leader reports after a promotion', () => {
  it('continue in a view that both generations have, and begin again in a view that the new one lacked at first', async () => {
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
    await fixture.sweep();
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

it('leader reports begin again after events that were applied muted', async () => {
  const muted = scored('b', [1], { views: lasting('all') });
  await fixture.apply([muted], { from: both.length, published: both.length + 1 });
  const verdicts = await fixture.apply([scored('c', [9])], { from: both.length + 1, published: 3 });
  expect(verdicts).toMatchObject([{}, { kind: 'leaderChange', since: null, before: [] }]);
});

it('leader reports tell that the last player of a view was banned, also without a report of before', async () => {
  const views = lasting('all x=2');
  await fixture.apply([scored('c', [9], { views })], { from: both.length, published: 3 }); // muted
  const ban = {
    kind: 'player' as const,
    offset: 3,
    board: 'arena',
    playerId: 'c',
    entry: 'banned 1 0 3 {}',
  };
  const apply = (entry: PlayerEntry, isLast = false) =>
    fixture.apply([], { from: 3, through: 3, published: 3, entries: [entry], isLast });
  expect(await apply(ban)).toEqual([]);
  const verdicts = await apply({ ...ban, views }, true);
  expect(verdicts).toMatchObject([{}, { kind: 'leaderChange', since: null, before: [], top: [] }]);
});
