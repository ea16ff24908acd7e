import { afterAll, describe, expect, it } from '@jest/globals';
import { banText, MISSED, parseBan, UNSETTLED, type PlayerEntry } from '#board-store';
import type { PlayerRecordKind } from '#contracts';
import { settlingCalls } from '../../src/ingest/split-calls.js';
import { takeOverRecords } from '../../src/reconciliation/runs/player-records.js';
import { arena, changesOf, lasting, scored, StoreFixture, T0, verdictsOf } from './fixture.js';
import { GenerationFixture, rankAll } from './generation-fixture.js';
import { openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

function record(kind: PlayerRecordKind, playerId: string, offset: number): PlayerEntry {
  const names = { board: 'arena', playerId };
  const entry = banText({ kind, ...names, occurredAt: T0 }, { partition: 0, offset });
  return { kind: 'player', offset, ...names, entry };
}

/** Applies a player record as ingest does; returns the verdicts of its last call. */
async function settle(fixture: StoreFixture, entry: PlayerEntry) {
  const { store, live } = fixture;
  const { offset, playerId } = entry;
  const call = { ...fixture.call([], { from: offset }), through: offset, entries: [entry] };
  expect(verdictsOf(await store.apply(call))).toEqual([]);
  const views = await store.viewsOfPlayers(live, [playerId]);
  let verdicts;
  for (const one of settlingCalls([entry], views, live.definition))
    verdicts = verdictsOf(await store.apply({ ...call, ...one }));
  return verdicts ?? [];
}

describe('a ban', () => {
  it('from 9,000 views is one rank change, and a leader change for each view', async () => {
    const publish = { ...arena.publish, leaders: 1 };
    const fixture = await new StoreFixture(redis, newKeys()).register({
      ...arena,
      publish,
      dimensions: [['x']],
    });
    const names = Array.from({ length: 9_000 }, (_, index) => `all x=${index}`);
    let offset = 0;
    for (let first = 0; first < names.length; first += 250) {
      const views = lasting(...names.slice(first, first + 250));
      const events = ['a', 'b'].map((player) => scored(player, [1], { views }));
      await fixture.apply(events, { from: offset, published: offset + 2 });
      offset += 2;
    }
    const verdicts = await settle(fixture, record('banned', 'a', offset));
    const [change, ...others] = verdicts.filter((verdict) => verdict.kind === 'rankChange');
    expect(changesOf(change!)).toHaveLength(names.length);
    expect(others).toEqual([]);
    const leaders = verdicts.filter((verdict) => verdict.kind === 'leaderChange');
    expect(leaders).toHaveLength(names.length);
    const again = fixture.call([], { from: offset });
    const found = await fixture.store.apply({ ...again, believed: offset, through: offset });
    expect(verdictsOf(found)).toHaveLength(verdicts.length);
  });

  it('has a reason with any characters', () => {
    const texts = { reason: 'a\u2028b\u2029 "c" 1 2', by: 'é' };
    const ban = { kind: 'banned' as const, board: 'arena', playerId: 'p', occurredAt: 5, ...texts };
    const text = banText(ban, { partition: 3, offset: 7 });
    const expected = { playerId: 'p', kind: 'banned', time: 5, partition: 3, offset: 7, ...texts };
    expect(parseBan('p', text)).toEqual(expected);
  });

  it('that live ingest applies below the start of a build, after records were taken over, is taken over before the build goes live', async () => {
    const fixture = await GenerationFixture.make({ redis, newKeys });
    const { generations, lease, live, store } = fixture;
    const starts = new Map([[0, 4]]);
    const purpose = 'build';
    const shadow = await generations.begin(lease, { definition: live.definition, purpose, starts });
    const taken = () => takeOverRecords({ store, generations }, lease, shadow);
    const before = await taken();
    await rankAll(generations, lease, shadow);
    await settle(fixture, record('banned', 'a', 2));
    const promote = (takenOver: Record<string, number>) =>
      generations.promote(lease, shadow, [], { graceMs: 0, takenOver });
    expect(await promote(before)).toMatchObject({ ending: MISSED });
    const now = await taken();
    expect([before, now]).toEqual([{ 0: 1 }, { 0: 2 }]);
    expect(await promote(now)).toMatchObject({ ending: UNSETTLED });
    for (const { partition, ...one } of await generations.unsettled(shadow)) {
      const entries = [{ kind: 'player' as const, board: 'arena', ...one }];
      await generations.joinRecords(lease, shadow, { partition, entries, isLast: true });
    }
    expect(await promote(now)).toMatchObject({ ending: { previous: live.generation } });
    expect(await fixture.reader().ban('arena', 'a')).toMatchObject({ kind: 'banned', offset: 2 });
  });
});
