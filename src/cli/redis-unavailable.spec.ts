import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Redis, type RedisOptions } from 'ioredis';
import { exitCodeOf, describe as words } from './failures.js';
import { EXIT } from './exit-codes.js';

describe('a command that Redis fails', () => {
  let server: Server | undefined;
  let redis: Redis | undefined;
  afterEach(() => {
    redis?.disconnect();
    server?.close();
  });

  /** What a GET fails with on a server that answers each command with a text, or ends the connection. */
  async function failure(answer: string | undefined, options: RedisOptions): Promise<unknown> {
    const started = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => {
        if (answer === undefined) socket.destroy();
        else socket.write(answer);
      });
    }).listen(0, '127.0.0.1');
    server = started;
    await new Promise((resolve) => started.once('listening', resolve));
    const { port } = started.address() as AddressInfo;
    redis = new Redis(port, '127.0.0.1', {
      enableReadyCheck: false,
      disableClientInfo: true, // one command, one answer
      ...options,
    });
    redis.on('error', () => undefined);
    return redis.get('a').catch((error: unknown) => error);
  }

  it.each<[string, string | undefined, RedisOptions]>([
    ['by silence', '', { commandTimeout: 50 }],
    ['by a connection that breaks', undefined, { maxRetriesPerRequest: 0 }],
    ['by a connection that is closed for good', undefined, { retryStrategy: () => null }],
    ['while it is not connected', '', { lazyConnect: true, enableOfflineQueue: false }],
    ['while it loads', '-LOADING Redis is loading the dataset in memory\r\n', {}],
    ['as it is full', "-OOM command not allowed when used memory > 'maxmemory'.\r\n", {}],
    ['in a script, as it is full', '-ERR Error running script: @user_script:1: -OOM no\r\n', {}],
    ['as it is a replica', "-READONLY You can't write against a read only replica.\r\n", {}],
  ])('%s ends with 3', async (_how, answer, options) => {
    const error = await failure(answer, options);
    expect(exitCodeOf(error)).toBe(EXIT.unreachable);
    expect(words(error)).toMatch(/^Redis can't do it now \(.+\); try again later$/);
  });

  it('by an answer that makes no sense ends with 4', async () => {
    const error = await failure('-WRONGTYPE Operation against a key\r\n', {});
    expect([exitCodeOf(error), words(error)]).toEqual([
      EXIT.failed,
      expect.stringMatching(/^WRONGTYPE/),
    ]);
  });
});
