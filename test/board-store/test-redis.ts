import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { KeySpace } from '#board-store';
import { defineScripts } from '../../libs/board-store/lua/scripts.js';
import { deleteKeys, keysOf, openRedis } from '../../scripts/redis-client.mjs';

/**
 * The Redis of REDIS_URL. `newKeys` makes a new key space in it; `close` deletes the keys of all
 * these key spaces.
 */
export interface TestRedis {
  readonly redis: Redis;
  readonly newKeys: () => KeySpace;
  readonly close: () => Promise<void>;
}

export function openTestRedis(url = process.env['REDIS_URL']): TestRedis {
  if (url === undefined)
    throw new Error('REDIS_URL is not set: eval "$(npm run -s services -- env)"');
  const redis = openRedis(url, { maxRetriesPerRequest: 1 });
  const root = `test-${randomUUID()}`;
  let spaces = 0;
  return {
    redis,
    newKeys: () => new KeySpace(`${root}:${spaces++}`),
    close: async () => {
      await deleteKeys(redis, `${root}:*`);
      await redis.quit();
    },
  };
}

/**
 * All keys of a key space with their values, byte by byte: for tests which check that nothing was
 * written.
 */
export async function dumpKeys(redis: Redis, keys: KeySpace): Promise<Record<string, string>> {
  const names = (await keysOf(redis, `${keys.prefix}:*`)).sort();
  const values = await Promise.all(names.map((name) => redis.dumpBuffer(name)));
  return Object.fromEntries(names.map((name, index) => [name, values[index]!.toString('hex')]));
}

/** A client that passes each command of a matching name to `send`, which runs it or not. */
export function interceptedClient(
  redis: Redis,
  names: RegExp,
  send: (run: () => Promise<unknown>) => Promise<unknown>,
): Redis {
  defineScripts(redis); // through the proxy, their commands would call intercepted ones
  return new Proxy(redis, {
    get(target, name) {
      const command: unknown = Reflect.get(target, name);
      if (typeof command !== 'function') return command;
      const run = (...args: unknown[]): unknown => Reflect.apply(command, target, args);
      if (!names.test(String(name))) return run;
      return (...args: unknown[]) => send(() => run(...args) as Promise<unknown>);
    },
  });
}

/** A client that calls `meanwhile` before each command of a matching name. */
export function lateClient(redis: Redis, names: RegExp, meanwhile: () => Promise<void>): Redis {
  return interceptedClient(redis, names, async (run) => {
    await meanwhile();
    return run();
  });
}

/** A client that sends each script call twice, as ioredis does after the first reply was lost. */
export function repeatingClient(redis: Redis): Redis {
  return interceptedClient(redis, /^ranklog/, async (run) => {
    await run();
    return run();
  });
}

/** A function that does the work only when it is called the `call`-th time. */
export function once(work: () => Promise<void>, call = 1): () => Promise<void> {
  let calls = 0;
  return async () => {
    if (++calls === call) await work();
  };
}
