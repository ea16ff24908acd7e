import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { eventually } from '../../test/support/eventually.js';
import { loggerTo, SILENT } from '../../test/support/loggers.js';
import { loadSettings } from '../config/settings.js';
import { createRedis, isRedisUnavailable } from './redis.js';

describe('the log of the Redis connection', () => {
  it('names the cause of a failed or lost connection once, and says when it is restored', () => {
    const lines: string[] = [];
    const logger = loggerTo((message) => lines.push(message));
    const redis = createRedis(loadSettings({}).settings, logger); // connects on the first command
    redis.emit('error', new Error('WRONGPASS'));
    redis.emit('error', new Error('WRONGPASS'));
    redis.emit('ready');
    redis.emit('error', new Error('cut'));
    redis.emit('error', new Error('refused'));
    redis.emit('ready');
    expect(lines).toEqual([
      'Redis connection failed: WRONGPASS',
      'Redis connection restored',
      'Redis connection lost: cut',
      'Redis connection restored',
    ]);
  });
});

it('connects again after a reply of a replica to a script or a write', () => {
  const { options } = createRedis(loadSettings({}).settings, SILENT) as Redis;
  const { reconnectOnError } = options;
  const ofReplica = new Error("READONLY You can't write against a read only replica.");
  expect(reconnectOnError?.(ofReplica)).toBe(true);
  expect(reconnectOnError?.(new Error('WRONGTYPE Operation against a key'))).toBe(false);
});

it('says that Redis is not connected, in place of the text of ioredis', async () => {
  const redis = createRedis(loadSettings({ REDIS_URL: 'redis://127.0.0.1:1' }).settings, SILENT);
  await redis.connect().catch(() => undefined);
  const refused = await redis.get('key').catch((error: unknown) => error);
  redis.disconnect();
  expect(refused).toEqual(new Error('Redis is not connected'));
  expect(isRedisUnavailable(refused)).toBe(true);
});

it('goes on after a node is gone to which a moving slot has redirected a command', async () => {
  const { settings } = loadSettings({ REDIS_URL: 'redis+cluster://127.0.0.1:1' });
  const cluster = createRedis(settings, SILENT);
  const node = new Redis({ lazyConnect: true });
  Object.assign(node, { asking: () => Promise.reject(new Error('Connection is closed.')) });
  cluster.emit('+node', node);
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  void node.asking(); // as ioredis does
  await setImmediate();
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

it('keeps a new connection, although the one before was cut while a command waited', async () => {
  const connections: Socket[] = [];
  const server = createServer((socket) => {
    connections.push(socket);
    socket.on('data', (bytes) => {
      const commands = bytes.toString().match(/^\*/gm)?.length ?? 0;
      if (connections.length === 1) socket.destroy();
      else socket.write('+role:master\r\n'.repeat(commands));
    });
    socket.on('error', () => undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `redis://127.0.0.1:${port}`;
  const redis = createRedis(loadSettings({ REDIS_URL: url }).settings, SILENT);
  Object.assign(redis.options, { socketTimeout: 1_000, enableReadyCheck: false });
  redis.connect().catch(() => undefined);
  const begun = performance.now();
  await eventually(async () => {
    await redis.get('key').catch(() => undefined);
    return performance.now() > begun + 1_600;
  }, 'more than the time limit has passed');
  redis.disconnect();
  server.close();
  expect(connections.length).toBe(2);
});
