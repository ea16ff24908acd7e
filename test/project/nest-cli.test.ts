import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { TestInstance } from '../support/instance.js';
import { ProjectCopy, runCommand } from '../support/project.js';

const NEST = 'node_modules/.bin/nest';

it('nest-cli.json lists the libraries', () => {
  const text = readFileSync('nest-cli.json', 'utf8');
  const { projects } = JSON.parse(text) as { projects: Record<string, object> };
  const libraries = readdirSync('libs').map((name) => {
    const folder = `libs/${name}`;
    return [name, { type: 'library', root: folder, sourceRoot: folder, entryFile: 'index' }];
  });
  expect(projects).toEqual(Object.fromEntries(libraries));
});

/** Kills what is left of a group of processes. */
function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // all have ended
  }
}

describe('the Nest command line', () => {
  let copy: ProjectCopy;
  beforeAll(() => {
    copy = new ProjectCopy([
      ...['src', 'libs', 'schemas', 'package.json'],
      ...['nest-cli.json', 'tsconfig.json', 'tsconfig.build.json'],
    ]);
    const file = path.join(copy.folder, 'tsconfig.build.json');
    const config = JSON.parse(readFileSync(file, 'utf8')) as { compilerOptions: object };
    // Types, which `npm run check` checks, would take most of the time.
    Object.assign(config.compilerOptions, { noCheck: true, declaration: false });
    writeFileSync(file, JSON.stringify(config));
  });
  afterAll(() => copy.remove());

  it('builds the service, with its Lua scripts', async () => {
    const { exitCode, stdout, stderr } = await runCommand(NEST, ['build'], { cwd: copy.folder });
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    const lua = (folder: string) => {
      const files = readdirSync(path.join(copy.folder, folder), { recursive: true });
      return files.filter((file) => String(file).endsWith('.lua')).sort();
    };
    expect(lua('dist/libs')).toEqual(lua('libs'));
    expect(existsSync(path.join(copy.folder, 'dist/src/cli/nest-start.js'))).toBe(true);
  });

  it('starts the service, and ends it on SIGTERM', async () => {
    const instance = await TestInstance.create('boards: { arena: { columns: [{ name: score }] } }');
    const child = spawn(NEST, ['start', '--', '--roles', 'ingest,reconciliation'], {
      cwd: copy.folder,
      env: { ...instance.env, RANKLOG_OPERATIONS_PORT: '0' },
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true, // a group, to end all of its processes
    });
    let log = '';
    child.stderr.on('data', (data: Buffer) => (log += data.toString()));
    const isReady = async () => {
      if (child.exitCode !== null) return true; // it has failed
      const [, operations = ''] = /"health and metrics at ([^"]+)/.exec(log) ?? [];
      return (await fetch(`${operations}/health/ready`)).status === 200;
    };
    try {
      await eventually(isReady, 'the service is ready');
      child.kill('SIGTERM');
      await eventually(() => child.exitCode !== null, 'nest start has ended');
      expect(child.exitCode).toBe(0);
      await eventually(() => log.includes('"stopped"'), 'the whole log is read', 5);
      expect(log).toContain('"running: ingest, reconciliation"');
    } finally {
      endGroup(child.pid!);
      await instance.remove();
    }
  });
});
