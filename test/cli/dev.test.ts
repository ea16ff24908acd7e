import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEFAULT_RELEASE, kafkaClasspath } from '#servers';
import { processStart } from '../../libs/servers/process-start.mjs';
import { SERVERS } from '../../scripts/services/clone.mjs';
import { TestInstance, until } from '../support/instance.js';
import { runCommand } from '../support/project.js';

const CLI = path.resolve('dist/cli/main.js');
const DEV = `'${process.execPath}' '${CLI}' dev`;

/** A folder of a user, with a `bin` folder whose commands replace others. */
class DevFolder {
  readonly path = mkdtempSync(path.join(tmpdir(), 'ranklog-dev-'));

  constructor(commands: Readonly<Record<string, string>> = {}) {
    mkdirSync(this.file('bin'));
    for (const [name, text] of Object.entries(commands))
      writeFileSync(this.file('bin', name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }

  file(...names: readonly string[]): string {
    return path.join(this.path, ...names);
  }

  /** Ends the "ranklog dev" that a failed test has left, too. */
  remove(): void {
    const lock = this.file('.ranklog', 'dev.lock');
    if (existsSync(lock)) process.kill(Number.parseInt(readFileSync(lock, 'utf8')), 'SIGTERM');
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** What a command prints. */
class Shown {
  text = '';

  constructor(readonly child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data: Buffer) => (this.text += data.toString()));
  }

  has(part: string): Promise<void> {
    return until(() => {
      if (this.child.exitCode === null) return this.text.includes(part);
      throw new Error(`ended before it printed "${part}": ${this.text}`);
    }, `"${part}" is printed`);
  }

  /** The URL of the page, once it is printed. */
  async url(): Promise<string> {
    await this.has('Ctrl-C ends');
    return /The page: (http:\/\/[^/]+)\//.exec(this.text)?.[1] ?? '';
  }
}

async function standings(url: string): Promise<{ size: number; columns: string[] }> {
  const answer = await fetch(`${url}/v1/boards/arena/standings`);
  const { size = 0, entries = [] } = (await answer.json()) as {
    size?: number;
    entries?: { columns: object }[];
  };
  return { size, columns: Object.keys(entries[0]?.columns ?? {}) };
}

const isDown = (url: string) =>
  fetch(url).then(
    () => false,
    () => true,
  );

const withoutServers = { ...process.env, KAFKA_BROKERS: undefined, REDIS_URL: undefined };
const freePorts = { RANKLOG_HTTP_PORT: '0', RANKLOG_OPERATIONS_PORT: '0' };

describe('ranklog dev on the servers of the environment', () => {
  let instance: TestInstance;
  let env: NodeJS.ProcessEnv;
  let folder: DevFolder;
  beforeAll(async () => {
    folder = new DevFolder();
    instance = await TestInstance.create('boards: {}');
    env = { ...instance.env, ...freePorts, RANKLOG_BOARDS: undefined };
  });
  afterAll(async () => {
    await instance.remove();
    folder.remove();
  });
  const start = (command: string, args: readonly string[]) =>
    new Shown(spawn(command, args, { cwd: folder.path, env, stdio: 'pipe' }));

  it('writes a first board, moves it, accepts events, and shows the plan of a changed file', async () => {
    const dev = start(process.execPath, [CLI, 'dev']);
    const url = await dev.url();
    expect(dev.text).toContain('wrote ./boards.yaml');
    await until(async () => (await standings(url)).size > 1, 'sample events move the board');
    const [, event = ''] = /-d '(.*)' http/.exec(dev.text) ?? [];
    const headers = { 'content-type': 'application/json' };
    const post = { method: 'POST', headers, body: event };
    expect((await fetch(`${url}/v1/boards/arena/events`, post)).status).toBe(202);

    const boards = folder.file('boards.yaml');
    const before = readFileSync(boards, 'utf8');
    writeFileSync(boards, before.replace('update: sum', 'update: som'));
    await dev.has('did you mean sum?');
    const ends = () => instance.admin.fetchTopicOffsets(instance.topics.scoreEvents);
    const sent = await ends();
    writeFileSync(boards, before.replace('name: points', 'name: coins'));
    await dev.has('~ arena: ');
    await dev.has('ranklog boards apply --yes');
    expect(await ends()).toEqual(sent); // no sample events after the first change
    dev.child.kill('SIGTERM');
    expect(await once(dev.child, 'exit')).toEqual([0, null]);
    expect(await isDown(url)).toBe(true);
  });

  it('keeps the file, asks on a terminal whether to apply a change, and ends by Ctrl-C in place of an answer', async () => {
    const dev = start('script', ['-qec', DEV, '/dev/null']);
    const url = await dev.url();
    expect(dev.text).not.toContain('wrote');
    expect(dev.text).not.toContain('Sample events');
    const asks = (times: number) =>
      until(() => dev.text.split('build arena? [y/N]').length > times, `it asks ${times} times`);
    const change = (column: string) => {
      const boards = `boards: { arena: { columns: [{ name: ${column} }] } }\n`;
      writeFileSync(folder.file('boards.yaml'), boards);
    };
    await asks(1); // the change of the test before
    dev.child.stdin?.write('n\n');
    await dev.has('nothing was changed');
    change('gems');
    await asks(2);
    dev.child.stdin?.write('y\n');
    await until(async () => (await standings(url)).columns[0] === 'gems', 'the change is applied');
    change('stars');
    await asks(3);
    dev.child.stdin?.write('\x03');
    expect(await once(dev.child, 'exit')).toEqual([0, null]);
    expect(await isDown(url)).toBe(true);
  });

  it('deletes no data of these servers', async () => {
    const args = [CLI, 'dev', '--reset', '--yes'];
    expect(await runCommand(process.execPath, args, { cwd: folder.path, env })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('leave out KAFKA_BROKERS and REDIS_URL'),
    });
  });
});

describe('ranklog dev without servers in the environment', () => {
  const folder = new DevFolder({ docker: 'exit 1' });
  afterAll(() => folder.remove());

  it('starts its own, for one process at a time, and ends all when a killed npm started it', async () => {
    mkdirSync(folder.file('.ranklog', 'redis-data'), { recursive: true });
    const jars = path.dirname(await kafkaClasspath(SERVERS, DEFAULT_RELEASE));
    symlinkSync(jars, folder.file('.ranklog', path.basename(jars)));
    const old = folder.file('.ranklog', 'redis-data', 'old');
    writeFileSync(old, '');
    const docker = { project: 'ranklog-old', release: DEFAULT_RELEASE, kafka: 1, redis: 1 };
    const state = folder.file('.ranklog', 'state.json');
    writeFileSync(state, JSON.stringify({ mode: 'docker', docker }));
    const PATH = `${folder.file('bin')}:${process.env['PATH'] ?? ''}`;
    const env = { ...withoutServers, ...freePorts, PATH };
    const unsure = { cwd: folder.path, env };
    expect(await runCommand(process.execPath, [CLI, 'dev', '--reset'], unsure)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('use --yes'),
    });
    expect(existsSync(old)).toBe(true);

    // As npx runs a command: the shell is the parent of ranklog, and npx that of the shell.
    const npx = new Shown(
      spawn('sh', ['-c', `sh -c "${DEV} --reset --yes; true"; true`], {
        cwd: folder.path,
        env: { ...env, npm_lifecycle_event: 'npx' },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
    const url = await npx.url();
    expect(existsSync(old)).toBe(false);
    expect(npx.text).toContain('Docker does not answer, so the data of its project ranklog-old');
    expect(JSON.parse(readFileSync(state, 'utf8'))).toMatchObject({ mode: 'native', docker });
    const pids = ['kafka', 'redis'].map((name) =>
      Number(readFileSync(folder.file('.ranklog', `${name}.pid`), 'utf8').split('\n')[0]),
    );
    await until(async () => (await standings(url)).size > 1, 'sample events move the board');
    expect(await runCommand(process.execPath, [CLI, 'dev'], unsure)).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('another "ranklog dev" uses'),
    });

    npx.child.kill('SIGKILL');
    await once(npx.child, 'close'); // when ranklog, the last process, has closed its output
    expect(await isDown(url)).toBe(true);
    // Both have ended, though process 1 may not have reaped them yet.
    expect(pids.map(processStart)).toEqual([undefined, undefined]);
    expect(existsSync(folder.file('.ranklog', 'dev.lock'))).toBe(false);
  });

  it('uses docker compose if a Docker engine answers, and stops it if the start fails', async () => {
    const folder = new DevFolder();
    const calls = folder.file('calls');
    const docker = `ls docker-compose.yml >> ${calls}; echo "$*" >> ${calls}; case "$*" in *" up "*) exit 17;; esac`;
    writeFileSync(folder.file('bin', 'docker'), `#!/bin/sh\n${docker}\n`, { mode: 0o755 });
    const PATH = `${folder.file('bin')}:${process.env['PATH'] ?? ''}`;
    const options = { cwd: folder.path, env: { ...withoutServers, PATH } };
    const { exitCode, stderr } = await runCommand(process.execPath, [CLI, 'dev'], options);
    await runCommand(process.execPath, [CLI, 'dev', '--reset', '--yes'], options);
    const called = readFileSync(calls, 'utf8');
    folder.remove();
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('docker compose up ended with 17'),
    });
    expect(called).toMatch(/^docker-compose.yml\ncompose -p \S+ up .* kafka redis$/m);
    expect(called).toMatch(/^docker-compose.yml\ncompose -p \S+ down$/m);
    expect(called).toMatch(/^docker-compose.yml\ncompose -p \S+ down --volumes$/m);
  });

  it('names at once all that is missing where there is no Docker, and nothing to install from', async () => {
    const folder = new DevFolder({
      docker: 'exit 1',
      'apt-get': 'exit 0',
      'redis-server': "echo 'Redis server v=6.0.16 sha=00000000:0'",
      java: `echo 'openjdk version "1.8.0_412"' >&2`,
    });
    const env = { ...withoutServers, PATH: folder.file('bin') };
    const { exitCode, stderr } = await runCommand(process.execPath, [CLI, 'dev'], {
      ...{ cwd: folder.path, env },
    });
    folder.remove();
    expect(exitCode).toBe(3);
    expect(stderr).toContain('redis-server (7 or newer), java (17 or newer), mvn (3 or newer)');
    expect(stderr).toContain('or start Docker, or set KAFKA_BROKERS and REDIS_URL');
  });
});
