import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PROJECT, ProjectCopy, runCommand } from '../support/project.js';

const FOREGROUND = path.join(PROJECT, 'libs/servers/foreground.mjs');
const CLEAN_UP = path.join(PROJECT, 'scripts/clean-up.mjs');
const DEMO = path.join(PROJECT, 'scripts/demo/main.mjs');
const LOCK = path.join(PROJECT, 'libs/servers/lock.mjs');
const PROCESS_START = path.join(PROJECT, 'libs/servers/process-start.mjs');
const PACKAGES = path.join(PROJECT, 'dist/libs/servers/packages.js');

/** Runs the text of a module in a new Node.js process, for 110 s at most. */
function runModule(text: string, options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  const node = [process.execPath, '--input-type=module', '-e', text];
  return runCommand('timeout', ['110', ...node], options);
}

describe('the setup of a clone', () => {
  let copy: ProjectCopy;
  beforeAll(() => {
    copy = new ProjectCopy([
      ...['scripts', 'package.json', 'tsconfig.json', 'tsconfig.build.json'],
      ...['foreground', 'launcher', 'lock', 'process-start'].map(
        (name) => `libs/servers/${name}.mjs`,
      ),
    ]);
    mkdirSync(path.join(copy.folder, 'src/cli'), { recursive: true });
    mkdirSync(path.join(copy.folder, 'libs/board-store/lua'), { recursive: true });
    mkdirSync(path.join(copy.folder, 'src/page'));
    writeFileSync(path.join(copy.folder, 'src/page/index.html'), '<title>none</title>');
  });
  afterAll(() => copy.remove());

  function setUp(step: 'ensureBuild' | 'ensureDependencies', env = process.env) {
    const text = `import { ${step} } from './scripts/with-setup.mjs'; await ${step}();`;
    return runModule(text, { cwd: copy.folder, env });
  }
  const main = (text: string) => {
    writeFileSync(path.join(copy.folder, 'src/cli/main.ts'), text);
  };

  it('builds once, but builds again after a build that failed', async () => {
    main("export const half: number = '1/2';\n");
    for (const time of ['first', 'second'])
      expect({ time, ...(await setUp('ensureBuild')) }).toMatchObject({
        exitCode: 2,
        stdout: '',
        stderr: expect.stringContaining('TS2322'),
      });

    main('export const half = 1 / 2;\n');
    expect((await setUp('ensureBuild')).exitCode).toBe(0);
    for (const built of ['dist/cli/main.js', 'dist/cli/page/index.html'])
      expect(existsSync(path.join(copy.folder, built))).toBe(true);
    expect(await setUp('ensureBuild')).toEqual({ exitCode: 0, stdout: '', stderr: '' });

    // As after `nest build`, which makes no bundle.
    rmSync(path.join(copy.folder, 'dist/cli'), { recursive: true });
    expect((await setUp('ensureBuild')).exitCode).toBe(0);
    expect(existsSync(path.join(copy.folder, 'dist/cli/main.js'))).toBe(true);
  });

  it('does not run npm ci on linked dependencies, because npm ci would remove them from their own folder', async () => {
    const bin = path.join(copy.folder, 'bin');
    mkdirSync(bin);
    writeFileSync(path.join(bin, 'npm'), '#!/bin/sh\nexit 17\n', { mode: 0o755 });
    const env = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` };
    // Newer than the dependencies, as after a pull.
    writeFileSync(path.join(copy.folder, 'package-lock.json'), '{}');

    expect(await setUp('ensureDependencies', env)).toMatchObject({ exitCode: 0, stderr: '' });
    rmSync(path.join(copy.folder, 'node_modules'));
    expect((await setUp('ensureDependencies', env)).exitCode).toBe(17);
  });
});

it('npm ci finds the optional packages of all platforms in the lockfile', () => {
  // npm install on one platform can leave out the packages of the other platforms.
  const text = readFileSync(path.join(PROJECT, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(text) as {
    packages: Record<string, { optionalDependencies?: object }>;
  };
  const found = Object.keys(packages);
  const missing = Object.values(packages)
    .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
    .filter((name) => !found.some((place) => place.endsWith(`node_modules/${name}`)));
  expect(missing).toEqual([]);
});

it('the lock between commands is void when its holder was killed', async () => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'ranklog-lock-')), 'void.lock');
  const withLock = (work: string) =>
    runModule(`import { withLock } from '${LOCK}'; await withLock('${file}', ${work});`);
  await withLock("() => process.kill(process.pid, 'SIGKILL')");
  expect(existsSync(file)).toBe(true);
  expect((await withLock('() => undefined')).exitCode).toBe(0);
  expect(existsSync(file)).toBe(false);
  rmSync(path.dirname(file), { recursive: true });
});

it('a process file names a running process by its pid alone where there is neither /proc nor ps', async () => {
  const { stdout } = await runModule(`
    import { spawnSync } from 'node:child_process';
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    fs.existsSync = () => false;
    syncBuiltinESMExports();
    const { processText, runningPidIn } = await import('${PROCESS_START}');
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    process.env.PATH = '';
    console.log(runningPidIn(processText(process.pid)) === process.pid, runningPidIn(pid + '\\n\\n'));
  `);
  expect(stdout).toBe('true undefined\n');
});

it('one process at a time holds the lock when many find that its holder was killed', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'ranklog-lock-'));
  writeFileSync(path.join(folder, 'void.lock'), ''); // as by an older version that was killed
  const text = `
    import { mkdirSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
    import { tryLock } from '${LOCK}';
    for (let holds = 0; holds < 50; ) {
      if (tryLock('void.lock') === undefined) continue;
      mkdirSync('held'); // fails if there is another holder
      holds += 1;
      // Leaves the lock as if this process were killed.
      const written = 'written' + process.pid;
      writeFileSync(written, '1\\nanother start\\n');
      rmdirSync('held');
      renameSync(written, 'void.lock');
      process.removeAllListeners('exit');
    }
  `;
  const runs = Array.from({ length: 6 }, () => runModule(text, { cwd: folder }));
  for (const { exitCode, stderr } of await Promise.all(runs))
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  rmSync(folder, { recursive: true });
});

describe('a clean-up', () => {
  const cleanUpAfter = (work: string) =>
    runModule(`
      import { withCleanUp } from '${CLEAN_UP}';
      const cleanUp = () => Promise.reject(new Error('it is still in use'));
      await withCleanUp(async () => { ${work} }, cleanUp);
    `);

  it('that fails does not hide why the work failed', async () => {
    const { exitCode, stderr } = await cleanUpAfter("throw new Error('the work')");
    expect({ exitCode, cause: /^Error: .*$/m.exec(stderr)?.[0] }).toEqual({
      ...{ exitCode: 1, cause: 'Error: the work' },
    });
    expect(stderr).toContain('the clean-up failed as well: Error: it is still in use');
  });

  it('that fails after work that did not is an error', async () => {
    expect(await cleanUpAfter('return 1')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^Error: it is still in use$/m),
    });
  });
});

it.each([[[]], [['--serve']]])(
  'the demo %p refuses a wrong setting before it makes anything',
  async (options) => {
    const env = { ...process.env, RANKLOG_TYPO: '1' };
    expect(await runCommand(process.execPath, [DEMO, ...options], { env })).toEqual({
      ...{ exitCode: 2, stdout: '', stderr: 'ranklog: RANKLOG_TYPO is not a setting\n' },
    });
  },
);

describe('a command in the foreground', () => {
  // Prints each signal that it gets, and ends a while after the first one, so that a second one
  // would be seen.
  const CHILD = `
    for (const name of ['SIGINT', 'SIGTERM'])
      process.on(name, () => { console.log('got', name); setTimeout(() => process.exit(7), 300); });
    console.log('ready');
    setTimeout(() => process.exit(8), 20_000);
  `;
  const PARENT = `
    import { runInForeground } from '${FOREGROUND}';
    const code = await runInForeground(process.execPath, ['-e', ${JSON.stringify(CHILD)}]);
    console.log('code ' + code);
  `;

  const folder = mkdtempSync(path.join(tmpdir(), 'ranklog-foreground-'));
  const program = path.join(folder, 'parent.mjs');
  writeFileSync(program, PARENT);
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  it.each<[string, readonly string[], (child: ChildProcess) => unknown]>([
    ['SIGTERM', [process.execPath, program], (child) => child.kill('SIGTERM')],
    [
      'SIGINT',
      // Ctrl-C in a terminal, which `script` provides.
      ['script', '-qec', `'${process.execPath}' '${program}'`, '/dev/null'],
      (child) => child.stdin?.write('\x03'),
    ],
  ])(
    'gets %s once, and its exit code is passed on',
    async (signal, [command = '', ...args], send) => {
      const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
      let shown = '';
      child.stdout.on('data', (data: Buffer) => {
        const wasReady = shown.includes('ready');
        shown += data.toString();
        if (!wasReady && shown.includes('ready')) send(child);
      });
      await once(child, 'close');
      const lines = shown.replaceAll('\r', '').replace('^C', '');
      expect(lines).toBe(`ready\ngot ${signal}\ncode 7\n`);
    },
  );

  it('gets SIGTERM when the npm that started it is killed', async () => {
    const shell = spawn('sh', ['-c', `'${process.execPath}' '${program}'; true`], {
      env: { ...process.env, npm_lifecycle_event: 'start' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let shown = '';
    shell.stdout.on('data', (data: Buffer) => {
      shown += data.toString();
      if (shown === 'ready\n') shell.kill('SIGKILL');
    });
    await once(shell, 'close'); // when the last process has closed its output
    expect(shown).toBe('ready\ngot SIGTERM\ncode 7\n');
  });
});

it('names native servers that are too old and can not be installed', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'ranklog-packages-'));
  const command = (name: string, text: string) => {
    writeFileSync(path.join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  };
  command('apt-get', 'exit 0');
  command('redis-server', "echo 'Redis server v=6.0.16 sha=00000000:0'");
  command('java', `echo 'openjdk version "1.8.0_412"' >&2`);
  const { exitCode, stderr } = await runModule(
    `import { ensureInstalled } from '${PACKAGES}'; await ensureInstalled({ say() {} }, ['redis-server', 'java']);`,
    { env: { ...process.env, PATH: `${folder}:${process.env['PATH'] ?? ''}` } },
  );
  rmSync(folder, { recursive: true });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('missing or too old: redis-server (7 or newer), java (17 or newer)');
  expect(stderr).toContain('or set KAFKA_BROKERS and REDIS_URL');
});
