// @ts-check
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's folder. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Where servers keep data, logs, pids and downloads; ignored by git. */
export const HOME = path.resolve(
  process.env['RANKLOG_SERVICES_DIR'] ?? path.join(ROOT, '.services'),
);

/** @typedef {{ pid: number, startTicks: string, port: number, version?: string }} NativeServer */
/** @typedef {{ mode?: 'native' | 'docker', kafka?: NativeServer, redis?: NativeServer, docker?: { kafka: number, redis: number, project: string } }} State */

const FILE = path.join(HOME, 'state.json');

/** @returns {State} what is known of servers that this script started */
export function readState() {
  return existsSync(FILE) ? /** @type {State} */ (JSON.parse(readFileSync(FILE, 'utf8'))) : {};
}

/** @param {State} state */
export function writeState(state) {
  mkdirSync(HOME, { recursive: true });
  writeFileSync(FILE, `${JSON.stringify(state, null, 2)}\n`);
}

/** Forgets servers and their data; downloads stay. */
export function purgeData() {
  if (!existsSync(HOME)) return;
  const data = readdirSync(HOME).filter((name) =>
    /^(kafka-data|redis-data|logs|state\.json)/.test(name),
  );
  for (const name of data) rmSync(path.join(HOME, name), { recursive: true, force: true });
}

/**
 * When a process started, in the kernel's ticks: with the pid it names one process for good, a pid alone may be reused.
 * @param {number} pid
 * @returns {string | undefined} undefined when there is no such process
 */
export function startTicks(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}

/**
 * Whether a server that this script started still runs.
 * @param {NativeServer | undefined} server
 */
export function isOurs(server) {
  return server !== undefined && startTicks(server.pid) === server.startTicks;
}
