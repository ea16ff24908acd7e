import { expect, it } from '@jest/globals';
import { keysOf } from '../../scripts/redis-client.mjs';
import { dumpKeys, openTestRedis } from './test-redis.js';

const KEYS = 20;

it('finds keys in all slots of whatever Redis it is, and deletes only its own', async () => {
  const [first, second] = [openTestRedis(), openTestRedis()];
  const spaces = [first.newKeys(), second.newKeys()] as const;
  for (const { prefix } of spaces)
    for (let index = 0; index < KEYS; index++) await first.redis.set(`${prefix}:${index}`, index);
  expect(Object.keys(await dumpKeys(first.redis, spaces[0]))).toHaveLength(KEYS);
  await first.close();
  expect(await keysOf(second.redis, `${spaces[0].prefix}:*`)).toEqual([]);
  expect(await keysOf(second.redis, `${spaces[1].prefix}:*`)).toHaveLength(KEYS);
  await second.close();
});
