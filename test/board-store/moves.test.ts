import { afterAll, beforeEach, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { KeySpace } from '#board-store';
import { StoreFixture } from './fixture.js';
import { dumpKeys, openTestRedis } from './test-redis.js';

const { redis, newKeys, close } = openTestRedis();
afterAll(close);

let keys: KeySpace;
beforeEach(() => {
  keys = new StoreFixture(redis, newKeys()).keys;
});

const ROLES = ['shadow', 'live', 'previous', 'snapshot', 'discarded'];
const MOVE = new URL('../../libs/board-store/lua/commands/move-5.lua', import.meta.url);

/** The table in the header of the script. */
const TABLE = [...readFileSync(MOVE, 'utf8').matchAll(/^-- (\w+) +(\w+)(?: {2}.*)?$/gm)]
  .map(([, from, to]) => `${from} ${to}`)
  .filter((pair) => pair !== 'from to');

const move = (from: string, to: string, token = '') => {
  const all = [keys.previous(0), keys.snapshots(0), keys.discarded(0), token, 'arena', 'g'];
  return redis.ranklogMove(5, keys.lease(0, 'arena'), keys.shadows(0), ...all, from, to);
};

it('a generation moves as the header of move-5.lua says, and in no other way', async () => {
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

it('a previous generation stays until its grace time is over, whatever the caller believes', async () => {
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
