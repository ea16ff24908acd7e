// @ts-check
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import getPort from 'get-port';
import { Redis } from 'ioredis';
import { localAddress } from './addresses.mjs';
import { ensureInstalled } from './packages.mjs';
import { startServer, waitUntilItAnswers } from './processes.mjs';
import { say } from './say.mjs';
import { changeState, HOME, readState, runningPid } from './state.mjs';

/** Starts redis-server on a free port, unless ours runs; returns when it answers. */
export async function startRedis() {
  if (runningPid('redis') === undefined) await launch();
  const address = localAddress('redis', readState().redis?.port ?? 0);
  await waitUntilItAnswers({ name: 'redis', answers: () => pingRedis(address), seconds: 30 });
  say(`Redis answers at ${address}`);
}

async function launch() {
  await ensureInstalled(['redis-server']);
  const port = await getPort({ host: '127.0.0.1', port: readState().redis?.port ?? 0 });
  const dir = path.join(HOME, 'redis-data');
  mkdirSync(dir, { recursive: true });
  changeState({ mode: 'native', redis: { port } });
  startServer('redis', 'redis-server', [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir],
    ...['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''],
  ]);
}

/**
 * Throws unless Redis accepts a connection within 3 s, and then answers PING within 3 s.
 * @param {string} url
 */
export async function pingRedis(url) {
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
