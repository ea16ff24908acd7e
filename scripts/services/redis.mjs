// @ts-check
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import { ensureInstalled } from './packages.mjs';
import { freePort, startServer, waitUntilItAnswers } from './processes.mjs';
import { say } from './say.mjs';
import { HOME, isOurs, readState, writeState } from './state.mjs';

/** Starts redis-server on a free port, unless ours runs. */
export async function startRedis() {
  const { redis: known } = readState();
  if (isOurs(known)) return;
  ensureInstalled(['redis-server']);
  const port = await freePort(known?.port);
  const dir = path.join(HOME, 'redis-data');
  mkdirSync(dir, { recursive: true });
  const { log, ...server } = startServer('redis', 'redis-server', [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir],
    ...['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''],
  ]);
  writeState({ ...readState(), mode: 'native', redis: { ...server, port } });
  await waitUntilItAnswers({
    name: 'Redis',
    server,
    log,
    answers: () => pingRedis(`redis://127.0.0.1:${port}`),
    seconds: 20,
  });
  say(`Redis answers on port ${port}`);
}

/** @param {string} url */
export async function pingRedis(url) {
  const redis = new Redis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  redis.on('error', () => undefined); // told by the command that fails
  try {
    await redis.connect();
    await redis.ping();
  } finally {
    redis.disconnect();
  }
}
