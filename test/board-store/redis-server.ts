import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import getPort from 'get-port';
import { Redis } from 'ioredis';

/** A redis-server process of one test, whose memory limit and scripts it may change. */
export interface OwnRedis {
  readonly redis: Redis;
  readonly stop: () => Promise<void>;
}

export async function startOwnRedis(): Promise<OwnRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'ranklog-redis-'));
  const port = await getPort();
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
  const server = execa('redis-server', settings, { reject: false, cleanup: true });
  const redis = new Redis({ port, retryStrategy: () => 50, maxRetriesPerRequest: 100 });
  redis.on('error', () => undefined); // refused until the server listens; a test's own calls fail loudly
  await redis.ping();
  const stop = async () => {
    redis.disconnect();
    server.kill();
    await server;
    await rm(folder, { recursive: true });
  };
  return { redis, stop };
}
