import { mkdirSync } from 'node:fs';
import getPort from 'get-port';
import { localAddress } from './addresses.js';
import { startProcess, waitUntilItAnswers } from './processes.js';
import { pingRedis } from './redis-client.js';
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
  const address = ['--port', String(port), '--bind', '127.0.0.1'];
  const data = ['--dir', dir, '--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''];
  startProcess(folder, 'redis', ['redis-server', ...address, ...data]);
}
