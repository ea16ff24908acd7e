import { mkdirSync } from 'node:fs';
import getPort from 'get-port';
import { Redis } from 'ioredis';
import { localAddress } from './addresses.js';
import { startProcess, waitUntilItAnswers } from './processes.js';
import type { ServersFolder } from './servers-folder.js';

/** Starts redis-server on a free port, unless ours runs; resolves when it answers. */
export async function startRedis(folder: ServersFolder): Promise<void> {
  if (folder.runningPid('redis') === undefined) await launch(folder);
  const address = localAddress('redis', folder.readState().redis?.port ?? 0);
  const answers = () => pingRedis(address);
  await waitUntilItAnswers(folder, { name: 'redis', answers, seconds: 30 });
  folder.say(`Redis answers at ${address}`);
}

async function launch(folder: ServersFolder): Promise<void> {
  const port = await getPort({ host: '127.0.0.1', port: folder.readState().redis?.port ?? 0 });
  const dir = folder.file('redis-data');
  mkdirSync(dir, { recursive: true });
  folder.changeState({ mode: 'native', redis: { port } });
  startProcess(folder, 'redis', [
    'redis-server',
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir],
    ...['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''],
  ]);
}

/** Throws unless Redis accepts a connection within 3 s, and then answers PING within 3 s. */
export async function pingRedis(url: string): Promise<void> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: 3_000,
    commandTimeout: 3_000,
    // The ready check would wait without a limit while Redis loads its data; PING fails then.
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  redis.on('error', () => undefined); // the failing command reports it
  try {
    await redis.connect();
    await redis.ping();
  } finally {
    redis.disconnect();
  }
}
