import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { runningPidIn, ServersFolder, stopServers } from '#servers';
import { until } from '../support/instance.js';

/** Uses the servers until it gets a line. */
const USER = `
  import { startServers } from '${path.resolve('dist/libs/testing/index.js')}';
  const servers = await startServers();
  console.log(servers.redisUrl);
  process.stdin.once('data', async () => console.log('stopped', await servers.stop()));
`;

const folder = mkdtempSync(path.join(tmpdir(), 'ranklog-reaper-'));
const file = (...names: readonly string[]) => path.join(folder, '.ranklog', 'testing', ...names);
const pidOf = (name: string) =>
  existsSync(file(`${name}.pid`))
    ? runningPidIn(readFileSync(file(`${name}.pid`), 'utf8'))
    : undefined;

beforeAll(() => {
  // Redis starts natively. Kafka is that of the tests, as its start takes longer.
  mkdirSync(path.join(folder, 'bin'));
  writeFileSync(path.join(folder, 'bin', 'docker'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
});
afterAll(async () => {
  await stopServers(new ServersFolder(file(), { label: 'after the tests' })); // of a failed test
  rmSync(folder, { recursive: true, force: true });
});

/**
 * A process that has started the servers. It leads a group, as a test runner in a terminal does.
 */
async function startUser(): Promise<ChildProcess> {
  const PATH = `${path.join(folder, 'bin')}:${process.env['PATH'] ?? ''}`;
  const user = spawn(process.execPath, ['--input-type=module', '-e', USER], {
    cwd: folder,
    detached: true,
    env: { ...process.env, PATH, REDIS_URL: '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(user.stdout, 'data')) as [Buffer];
  expect(line.toString()).toMatch(/^redis:/);
  return user;
}

async function kill(user: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  process.kill(-(user.pid ?? 0), signal);
  await once(user, 'close');
}

async function untilAllEnded(): Promise<void> {
  const ended = () => !existsSync(file('users')) && pidOf('redis') === undefined;
  await until(ended, 'the servers have ended', 15);
  expect(readdirSync(file()).filter((name) => name.endsWith('.pid'))).toEqual([]);
}

it('servers end soon after all processes that used them were killed, by Ctrl-C or SIGKILL', async () => {
  const first = await startUser();
  const pids = ['redis', 'reaper'].map(pidOf);
  const second = await startUser();
  await kill(first, 'SIGINT');
  const third = await startUser();
  const reaper = readFileSync(file('reaper.pid'), 'utf8');
  expect(['redis', 'reaper'].map(pidOf)).toEqual(pids);
  await kill(second, 'SIGINT');
  await kill(third, 'SIGKILL');
  await untilAllEnded();
  await until(() => runningPidIn(reaper) === undefined, 'the reaper has ended', 15);
});

it('servers end soon after their last use, while the process lives on, and start again', async () => {
  for (const use of ['first', 'second']) {
    const user = await startUser();
    const stopped = once(user.stdout ?? user, 'data');
    user.stdin?.write('stop\n');
    expect({ use, printed: String(await stopped) }).toEqual({
      use,
      printed: 'stopped undefined\n',
    });
    await untilAllEnded();
    expect(user.exitCode).toBeNull();
    await kill(user, 'SIGKILL');
  }
});
