import { afterAll, beforeEach, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { KeySpace } from '#board-store';
import { readScript } from '../../libs/board-store/lua/script-text.js';
import { StoreFixture } from './fixture.js';
import { GenerationFixture } from './generation-fixture.js';
import { dumpKeys, openTestRedis, repeatingClient } from './test-redis.js';

const testRedis = openTestRedis();
const { redis, newKeys, close } = testRedis;
afterAll(close);

let keys: KeySpace;
beforeEach(() => {
  keys = new StoreFixture(redis, newKeys()).keys;
});

const ROLES = ['shadow', 'live', 'previous', 'snapshot', 'discarded'];
const MOVE = new URL('../../libs/board-store/lua/commands/move-5.lua', import.meta.url);

/** The moves that the table in the header of the script lists. */
const TABLE = [...readFileSync(MOVE, 'utf8').matchAll(/^-- (\w+) +(\w+)(?: {2}.*)?$/gm)]
  .map(([, from, to]) => `${from} ${to}`)
  .filter((pair) => pair !== 'from to');

const move = (from: string, to: string, token = '') => {
  const roles = keys.ofRoles(0, 'arena');
  return redis.ranklogMove({ ...roles, token, board: 'arena', generation: 'g', from, to });
};

it('a generation makes only the moves of the header of move-5.lua', async () => {
  const allowed: string[] = [];
  for (const from of ROLES)
    for (const to of ROLES) {
      const reply = await move(from, to).catch(String);
      if (reply === 0) allowed.push(`${from} ${to}`);
      else expect(reply).toContain(`no generation moves from ${from} to ${to}`);
    }
  expect(allowed).toEqual(TABLE);
  expect(allowed).toHaveLength(5);
  expect(await dumpKeys(redis, keys)).toEqual({});
});

it('an error in a script names the line of its file', async () => {
  const error = await move('live', 'shadow').catch(String);
  const [, line] = /user_script:(\d+): no generation moves/.exec(String(error)) ?? [];
  const lines = readScript('move-5').text.split('\n');
  expect(lines[Number(line) - 1]).toContain("error(format('no generation moves");
  const ofFile = readFileSync(MOVE, 'utf8').split('\n');
  expect(lines.slice(Number(line) - lines.length)).toEqual(
    ofFile.slice(Number(line) - lines.length),
  );
});

it('a previous generation is not discarded before its grace time is over', async () => {
  await redis.hset(keys.previous(0), 'arena', `g ${Date.now() + 60_000}`);
  const before = await dumpKeys(redis, keys);
  expect(await move('previous', 'discarded')).toBe(0);
  expect(await dumpKeys(redis, keys)).toEqual(before);
  await redis.hset(keys.previous(0), 'arena', 'g 1');
  expect(await move('previous', 'discarded')).toBe(1);
  expect(await redis.smembers(keys.discarded(0))).toEqual(['g']);
});

it('only the holder of the lease replaces a shadow by the previous generation', async () => {
  await redis.hset(keys.previous(0), 'arena', 'g 1');
  await redis.hset(keys.shadows(0), 'arena', 'h build');
  await redis.set(keys.lease(0, 'arena'), 'theirs');
  const before = await dumpKeys(redis, keys);
  expect(await move('previous', 'shadow')).toBe(-11);
  expect(await move('previous', 'shadow', 'mine')).toBe(-5);
  expect(await dumpKeys(redis, keys)).toEqual(before);
  expect(await move('previous', 'shadow', 'theirs')).toBe(1);
  expect(await redis.hget(keys.shadows(0), 'arena')).toBe('g rollback 1');
  expect(await redis.smembers(keys.discarded(0))).toEqual(['h']);
});

it.each([
  ['', redis],
  [', also if each call is sent again because its reply was lost', repeatingClient(redis)],
])('a generation takes every path that the header of move-5.lua draws%s', async (_, client) => {
  const fixture = await GenerationFixture.make(testRedis, { client });
  const { generations, catalog, lease } = fixture;
  const roles = async () =>
    Object.fromEntries(
      (await catalog.generations()).map(({ generation, role }) => [role, generation]),
    );
  const discarded = async () => (await redis.smembers(fixture.keys.discarded(0))).sort();
  const storedSince = () => redis.hget(fixture.keys.promotions(0), 'arena');
  const first = fixture.live.generation;

  const built = await fixture.build();
  const second = built.generation;
  expect(await roles()).toEqual({ live: first, shadow: second });
  const { since } = await fixture.makeLive(built);
  expect(await roles()).toEqual({ previous: first, live: second });
  expect(await storedSince()).toBe(String(since));
  const previous = await fixture.previousEntry();
  const back = await generations.beginRollback(lease);
  expect(await roles()).toEqual({ shadow: first, live: second });
  await generations.discard(lease, back);
  expect(await fixture.previousEntry()).toBe(previous);
  await fixture.promote(await generations.beginRollback(lease));
  expect(await roles()).toEqual({ live: first, previous: second });

  const kept = await fixture.begin('snapshot');
  await generations.keepAsSnapshot(lease, kept);
  expect(await roles()).toEqual({ live: first, previous: second, snapshot: kept.generation });
  expect(await discarded()).toEqual([]);
  expect(await catalog.removeSnapshot(kept.generation)).toBe(true);
  const left = await fixture.begin();
  await generations.discard(lease, left);
  expect(await discarded()).toEqual([kept.generation, left.generation].sort());
  const last = await fixture.build();
  await fixture.promote(last);
  expect(await roles()).toEqual({ live: last.generation, previous: first });
  expect(await discarded()).toContain(second);

  const removed = await generations.remove(lease);
  expect(await storedSince()).toBe(String(removed));
  await fixture.sweep();
  expect(await roles()).toEqual({});
  expect(await catalog.removeSnapshot(kept.generation)).toBe(false);
});
