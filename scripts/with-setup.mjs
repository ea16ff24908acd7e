// @ts-check
// Prepares a clone for a command: dependencies, build, servers. Only node's own modules until `npm ci` has run.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Dependencies as the lockfile says; installs them when they are missing or older than it. */
export function ensureDependencies() {
  const installed = modified(path.join(ROOT, 'node_modules/.package-lock.json'));
  if (installed >= modified(path.join(ROOT, 'package-lock.json'))) return;
  process.stderr.write('setup: npm ci\n');
  runOrExit('npm', ['ci', '--no-audit', '--no-fund', '--loglevel', 'error']);
}

/** dist/, built when a source is newer. */
export function ensureBuild() {
  const built = modified(path.join(ROOT, 'dist/.tsbuildinfo'));
  const configs = ['tsconfig.json', 'tsconfig.build.json', 'nest-cli.json', 'package.json'];
  const newest = Math.max(
    ...configs.map((file) => modified(path.join(ROOT, file))),
    ...['src', 'libs'].map((folder) => newestIn(path.join(ROOT, folder))),
  );
  if (built >= newest) return;
  process.stderr.write('setup: nest build\n');
  runOrExit('npm', ['run', '--silent', 'build']);
}

/**
 * The environment of the servers: those that run, or started ones when `start` says so.
 * @param {{ start: boolean }} options
 * @returns {Promise<NodeJS.ProcessEnv>}
 */
export async function serverEnvironment({ start }) {
  const { addresses, up } = await import('./services/main.mjs');
  if (start) await up({});
  const { kafka, redis } = addresses();
  return {
    ...process.env,
    ...(kafka && { KAFKA_BROKERS: kafka }),
    ...(redis && { REDIS_URL: redis }),
  };
}

/**
 * Runs a node program in the foreground: its signals, its exit code.
 * @param {string[]} args @param {NodeJS.ProcessEnv} env
 */
export function runNode(args, env) {
  const child = spawn(process.execPath, args, { cwd: process.cwd(), env, stdio: 'inherit' });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
    process.on(signal, () => child.kill(signal));
  child.on('close', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
}

/** @param {string} command @param {string[]} args */
function runOrExit(command, args) {
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
}

/** @param {string} file */
function modified(file) {
  return existsSync(file) ? statSync(file).mtimeMs : 0;
}

/** @param {string} folder @returns {number} */
function newestIn(folder) {
  return Math.max(
    0,
    ...readdirSync(folder, { withFileTypes: true }).map((entry) => {
      const file = path.join(folder, entry.name);
      return entry.isDirectory() ? newestIn(file) : modified(file);
    }),
  );
}
