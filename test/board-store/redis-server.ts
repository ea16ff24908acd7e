import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import getPort from 'get-port';
import { Redis } from 'ioredis';

/** A redis-server process of one test, which may be harmed. */
export interface OwnRedis {
  readonly redis: Redis;
  readonly port: number;
  /** Ends the process and starts another one with the same data: what was saved. */
  readonly restart: () => Promise<void>;
  /** Resolves when a replica has all that its master has. */
  readonly caughtUp: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface OwnRedisOptions {
  /** Whether SAVE has a file to write; nothing is saved otherwise. */
  readonly save?: boolean;
  readonly replicaOf?: OwnRedis;
}

export async function startOwnRedis({
  save = false,
  replicaOf,
}: OwnRedisOptions = {}): Promise<OwnRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'ranklog-redis-'));
  const port = await getPort();
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder];
  settings.push('--repl-diskless-sync-delay', '0');
  if (!save) settings.push('--dbfilename', 'none.rdb');
  if (replicaOf !== undefined) settings.push('--replicaof', '127.0.0.1', String(replicaOf.port));
  const launch = () => execa('redis-server', settings, { reject: false, cleanup: true });
  let server = launch();
  const redis = new Redis({ port, retryStrategy: () => 50, maxRetriesPerRequest: 100 });
  redis.on('error', () => undefined); // refused until the server listens; a test's own calls fail loudly
  await redis.ping();
  const end = async () => {
    server.kill();
    await server;
  };
  return {
    redis,
    port,
    restart: async () => {
      await end();
      server = launch();
      await redis.ping();
    },
    caughtUp: async () => {
      await replicaOf?.redis.wait(1, 10_000);
    },
    stop: async () => {
      redis.disconnect();
      await end();
      await rm(folder, { recursive: true });
    },
  };
}
