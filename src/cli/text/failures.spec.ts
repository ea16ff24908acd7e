import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Redis, type RedisOptions } from 'ioredis';
import kafkajs from 'kafkajs';
import { LeaseLostError } from '#board-store';
import { PermanentPartitionError, UnreadableBatchError } from '#kafka-batch';
import { EXIT } from './exit-codes.js';
import { exitCodeOf, describe as messageOf } from './failures.js';

describe('an error of Redis', () => {
  let server: Server | undefined;
  let redis: Redis | undefined;
  afterEach(() => {
    redis?.disconnect();
    server?.close();
  });

  /**
   * The error of a GET on a server that answers each command with this reply; undefined: it closes
   * the connection.
   */
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
      disableClientInfo: true, // so that GET is the only command
      ...options,
    });
    redis.on('error', () => undefined);
    return redis.get('a').catch((error: unknown) => error);
  }

  it.each<[string, string | undefined, RedisOptions]>([
    ['from a command without a reply', '', { commandTimeout: 50 }],
    ['from a connection that breaks', undefined, { maxRetriesPerRequest: 0 }],
    ['from a closed connection', undefined, { retryStrategy: () => null }],
    ['without a connection', '', { lazyConnect: true, enableOfflineQueue: false }],
    ['while Redis loads its data', '-LOADING Redis is loading the dataset in memory\r\n', {}],
    ['of a full Redis', "-OOM command not allowed when used memory > 'maxmemory'.\r\n", {}],
    ['of a full Redis in a script', '-ERR Error running script: @user_script:1: -OOM no\r\n', {}],
    ['of a replica', "-READONLY You can't write against a read only replica.\r\n", {}],
  ])('%s has exit code 3', async (_how, answer, options) => {
    const error = await failure(answer, options);
    expect(exitCodeOf(error)).toBe(EXIT.unreachable);
    expect(messageOf(error)).toMatch(/^Redis is unavailable \(.+\); try again later$/);
  });

  it('from a wrong command has exit code 4', async () => {
    const error = await failure('-WRONGTYPE Operation against a key\r\n', {});
    expect([exitCodeOf(error), messageOf(error)]).toEqual([
      EXIT.failed,
      expect.stringMatching(/^WRONGTYPE/),
    ]);
  });
});

it('an error of a connection to Kafka has exit code 3, and names Kafka', () => {
  const text = 'Connection error: connect ECONNREFUSED 127.0.0.1:9093';
  const error = new kafkajs.KafkaJSConnectionError(text, { code: 'ECONNREFUSED' });
  expect(exitCodeOf(error)).toBe(EXIT.unreachable);
  expect(messageOf(error)).toBe(`Kafka is unavailable (${text}); try again later`);
});

it('a batch that can not be read has exit code 2, as its message says what to do', () => {
  const batch = { topic: 'scores', partition: 0, first: 3, last: 7, crc: 1 };
  const error = new UnreadableBatchError(batch, new Error('compressed by an unknown codec'));
  expect(exitCodeOf(error)).toBe(EXIT.usage);
  expect(messageOf(error)).toContain('ranklog skip scores/0/3-7');
  expect(exitCodeOf(new PermanentPartitionError('the log was cut'))).toBe(EXIT.usage);
});

it.each([undefined, 'another process'])(
  'a lost lease has exit code 3; its new holder: %s',
  (holder) => {
    expect(exitCodeOf(new LeaseLostError('arena', holder))).toBe(EXIT.unreachable);
  },
);
