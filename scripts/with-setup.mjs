// @ts-check
// Prepares a clone for a command: dependencies, build, servers. Imports only Node's own modules
// until `npm ci` has run.
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInForeground } from '../libs/servers/foreground.mjs';
import { withLock } from '../libs/servers/lock.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LOCK = path.join(ROOT, '.services', 'setup.lock');
/** The last file that a build writes. */
const LAST_BUILT = 'dist/cli/THIRD-PARTY.txt';
const BUILD_CONFIGS = [
  'tsconfig.json',
  'tsconfig.build.json',
  'package.json',
  'package-lock.json',
  'scripts/bundle.mjs',
  'scripts/bundling.mjs',
  'scripts/page.mjs',
];

/**
 * Installs the dependencies of the lockfile if they are missing or older than it. Leaves linked
 * ones alone.
 */
export async function ensureDependencies() {
  const fresh = () =>
    isLinked() || modified('node_modules/.package-lock.json') >= modified('package-lock.json');
  if (fresh()) return;
  await withLock(LOCK, () => {
    if (fresh()) return;
    process.stderr.write('setup: npm ci\n');
    const args = [
      'ci',
      '--ignore-scripts',
      '--include=dev',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ];
    const code = run('npm', args);
    if (code !== 0) process.exit(code);
  });
}

/** Builds dist/ again if a source is newer. */
export async function ensureBuild() {
  const fresh = () => modified(LAST_BUILT) >= newestSource();
  if (fresh()) return;
  await withLock(LOCK, () => {
    if (fresh()) return;
    process.stderr.write('setup: npm run build\n');
    const started = new Date();
    const code = run('npm', ['run', '--silent', 'build']);
    if (code !== 0) process.exit(code);
    utimesSync(path.join(ROOT, LAST_BUILT), started, started); // a source may have changed since
  });
}

/**
 * The environment with KAFKA_BROKERS and REDIS_URL of the servers that run; starts those of `start`
 * first. `redisKind`: of this kind of Redis; by default, of the one that was started last. Needs a
 * build.
 * @param {{ start?: readonly ('kafka' | 'redis')[], redisKind?: import('#servers').RedisKind }}
 * [options]
 * @returns {Promise<NodeJS.ProcessEnv>}
 */
export async function serverEnvironment({ start = [], redisKind } = {}) {
  if (start.length > 0) await startServers(redisKind ? [...start, `--${redisKind}`] : start);
  const { serverVariables } = await import('#servers');
  const { SERVERS } = await import('./services/clone.mjs');
  return { ...process.env, ...serverVariables(SERVERS, redisKind) };
}

/** @param {readonly string[]} args of `up` */
async function startServers(args) {
  const { main } = await import('./services/main.mjs');
  const code = await main(['up', ...args]);
  if (code !== 0) process.exit(code);
}

/**
 * Runs a node program in place of this one: passes signals on to it, and takes over its exit code.
 * @param {string[]} args @param {NodeJS.ProcessEnv} env
 */
export async function runNode(args, env) {
  process.exitCode = await runInForeground(process.execPath, args, { env });
}

/**
 * Runs a command of the setup. Its output goes to standard error: standard output belongs to the
 * command that needs the setup.
 * @param {string} command @param {string[]} args
 * @returns {number} exit code
 */
function run(command, args) {
  return spawnSync(command, args, { cwd: ROOT, stdio: ['ignore', 2, 2] }).status ?? 1;
}

/** Whether node_modules is a link to another folder, which npm ci would empty. */
function isLinked() {
  return lstatSync(path.join(ROOT, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink();
}

/** @returns {number} when a source of dist/ was changed last */
function newestSource() {
  return Math.max(
    ...BUILD_CONFIGS.map(modified),
    ...['src', 'libs'].map((folder) => newestIn(path.join(ROOT, folder))),
  );
}

/** @param {string} folder @returns {number} */
function newestIn(folder) {
  const entries = readdirSync(folder, { withFileTypes: true });
  const times = entries
    .filter(({ name }) => !name.endsWith('.spec.ts'))
    .map((entry) => {
      const file = path.join(folder, entry.name);
      return entry.isDirectory() ? newestIn(file) : statSync(file).mtimeMs;
    });
  return Math.max(0, ...times);
}

/** @param {string} file in the project's folder */
function modified(file) {
  const place = path.join(ROOT, file);
  return existsSync(place) ? statSync(place).mtimeMs : 0;
}
