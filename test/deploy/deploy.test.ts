import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import ms from 'ms';
import { parse } from 'yaml';
import { output } from '../packages/empty-project.js';
import { eventually } from '../support/eventually.js';
import { TestInstance } from '../support/instance.js';
import { runCommand } from '../support/project.js';
import { BuiltImage, execForm, hasProgram, linkPackages } from './image.js';

const SETTINGS = readFileSync('docs/reference/settings.md', 'utf8');
const [, SHUTDOWN = ''] = /SHUTDOWN_TIMEOUT`[^`]*`\w+`[^`]*`(\w+)`/.exec(SETTINGS) ?? [];

/** Runs a program as process 1 where the system lets us. */
const AS_PROCESS_1 =
  process.getuid?.() === 0 && hasProgram('unshare') ? ['unshare', '--pid', '--fork'] : [];

interface ComposeService {
  readonly command?: string[];
  readonly depends_on?: object | string[];
  readonly secrets?: string[];
  readonly volumes?: string[];
  readonly stop_grace_period?: ms.StringValue;
}
interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets?: Readonly<Record<string, { file: string }>>;
}
const readCompose = (file: string) =>
  parse(readFileSync(`deploy/${file}`, 'utf8'), { merge: true }) as ComposeFile;
const composeText = readFileSync('deploy/docker-compose.yml', 'utf8');
const compose = readCompose('docker-compose.yml');

describe('the Dockerfile', () => {
  const image = new BuiltImage();
  let instance: TestInstance;
  beforeAll(async () => {
    await image.build(linkPackages);
    instance = await TestInstance.create(readFileSync('deploy/boards.yaml', 'utf8'));
  });
  afterAll(async () => {
    await instance.remove();
    image.remove();
  });

  it('builds what runs with the files of its last stage alone', async () => {
    const [node = '', ...args] = image.entrypoint();
    expect(await output(node, [...args, '--version'], { cwd: tmpdir() })).toMatch(
      /^\d+\.\d+\.\d+\n$/,
    );
  });

  it('runs as a user other than root', () => {
    const user = image.instructions.findLast(({ name }) => name === 'USER')?.text ?? '0';
    expect(user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  });

  it('runs node without a shell, as process 1, which SIGTERM ends with code 0', async () => {
    const command = [
      ...AS_PROCESS_1,
      ...image.entrypoint(),
      ...execForm(image.instructions, 'CMD'),
    ];
    const env = { ...instance.env, RANKLOG_HTTP_PORT: '0', RANKLOG_OPERATIONS_PORT: '0' };
    const child = spawn(command[0]!, command.slice(1), {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = once(child, 'exit');
    let log = '';
    child.stderr.on('data', (data: Buffer) => (log += data.toString()));
    await eventually(() => log.includes('"running:'), 'the service runs');
    const children = `/proc/${child.pid}/task/${child.pid}/children`;
    const pid = AS_PROCESS_1.length === 0 ? child.pid! : Number(readFileSync(children, 'utf8'));
    process.kill(pid, 'SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  (hasProgram('hadolint') ? it : it.skip)('has no findings of hadolint', async () => {
    expect(await runCommand('hadolint', ['Dockerfile'])).toMatchObject({ exitCode: 0, stdout: '' });
  });
});

it.each(['docker-compose.yml', 'cluster.yml'])(
  'deploy/%s names services and secrets that it has',
  (file) => {
    const { services, secrets = {} } = readCompose(file);
    for (const { depends_on = {}, secrets: used = [] } of Object.values(services)) {
      const needed = Array.isArray(depends_on) ? depends_on : Object.keys(depends_on);
      expect(Object.keys(services)).toEqual(expect.arrayContaining(needed));
      expect(Object.keys(secrets)).toEqual(expect.arrayContaining(used));
    }
    expect(ms(services['ranklog']!.stop_grace_period!)).toBeGreaterThan(
      ms(SHUTDOWN as ms.StringValue),
    );
  },
);

describe('deploy/docker-compose.yml', () => {
  it('begins with commands that write its secrets', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'ranklog-secrets-'));
    const commands = [...composeText.matchAll(/^# {3}(\S.*)$/gm)].map(([, command]) => command);
    await output('sh', ['-ec', commands.join('\n')], { cwd: folder });
    const read = (name: string) =>
      readFileSync(path.join(folder, compose.secrets![name]!.file), 'utf8');
    const [, password] = read('redis.conf').split(' ');
    expect(read('redis-url')).toBe(`redis://:${password}@redis:6379`);
    const scopes = ['read', 'write', 'operate'];
    expect(parse(read('http-tokens.yaml'))).toEqual([
      { name: 'me', token: expect.stringMatching(/^\w{32}$/), scopes },
    ]);
    rmSync(folder, { recursive: true });
  });

  it('has commands that create the topics and the boards of its boards file, in this order', async () => {
    const instance = await TestInstance.create(readFileSync('deploy/boards.yaml', 'utf8'));
    for (const name of ['topics', 'boards'])
      await instance.run(...compose.services[name]!.command!);
    await expect(
      instance.reader.standings('arena', { where: { region: 'eu' } }),
    ).resolves.toMatchObject({ entries: [] });
    await instance.remove();
  });
});

describe('deploy/ranklog.service', () => {
  const unit = readFileSync('deploy/ranklog.service', 'utf8');
  const valueOf = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';

  it('gives the process the time that a shutdown may take', () => {
    expect(ms(valueOf('TimeoutStopSec') as ms.StringValue)).toBeGreaterThan(
      ms(SHUTDOWN as ms.StringValue),
    );
  });

  (hasProgram('systemd-analyze') ? it : it.skip)('passes systemd-analyze', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'ranklog-unit-'));
    const file = path.join(folder, 'ranklog.service');
    // ranklog is not installed here
    writeFileSync(file, unit.replace(valueOf('ExecStart'), process.execPath));
    const verified = await runCommand('systemd-analyze', ['verify', '--man=no', file]);
    expect(verified).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    await output('systemd-analyze', [
      'security',
      '--offline=true',
      '--threshold=20',
      '--no-pager',
      file,
    ]);
    rmSync(folder, { recursive: true });
  });
});
