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

/** Runs `npm ci` if node_modules is missing or older than the lockfile. */
export async function ensureDependencies() {
  if (hasDependencies()) return;
  await withLock(LOCK, () => {
    if (hasDependencies()) return; // another process has installed them
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
  if (isBuilt()) return;
  await withLock(LOCK, () => {
    if (isBuilt()) return; // another process has built it
    process.stderr.write('setup: npm run build\n');
    const started = new Date();
    const code = run('npm', ['run', '--silent', 'build']);
    if (code !== 0) process.exit(code);
    // A source that changed during the build must be newer than the build
    utimesSync(path.join(ROOT, LAST_BUILT), started, started);
  });
}

/**
 * The environment of this process, with KAFKA_BROKERS and REDIS_URL of the running servers. Needs a
 * build.
 * @param {{ start?: readonly ('kafka' | 'redis')[], redisKind?: import('#servers').RedisKind }}
 * [options] `start`: servers to start first; `redisKind`: the kind of Redis to start and to name in
 * REDIS_URL, by default the one that was started last
 * @returns {Promise<NodeJS.ProcessEnv>}
 */
export async function serverEnvironment({ start = [], redisKind } = {}) {
  const kindFlags = redisKind ? [`--${redisKind}`] : [];
  if (start.length > 0) await startServers([...start, ...kindFlags]);

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

/** A linked node_modules counts as it is: npm ci would empty the folder behind the link. */
function hasDependencies() {
  const installed = 'node_modules/.package-lock.json';
  return isLinked() || modified(installed) >= modified('package-lock.json');
}

function isBuilt() {
  return modified(LAST_BUILT) >= newestSource();
}

/** Whether node_modules is a link to another folder. */
function isLinked() {
  return lstatSync(path.join(ROOT, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink();
}

/** @returns {number} when a source of dist/ was changed last, in ms since 1970 */
function newestSource() {
  const configs = BUILD_CONFIGS.map(modified);
  const sources = ['src', 'libs'].map((folder) => newestIn(path.join(ROOT, folder)));
  return Math.max(...configs, ...sources);
}

/** @param {string} folder @returns {number} when a file of it was changed last; 0 if it is empty */
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

/** When a file of the clone was changed last; 0 if it is missing. @param {string} file */
function modified(file) {
  const place = path.join(ROOT, file);
  return existsSync(place) ? statSync(place).mtimeMs : 0;
}
