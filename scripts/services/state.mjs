// @ts-check
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { processStart } from '../process-start.mjs';

/** The project's folder. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Where servers keep data, logs, pid files and downloads; ignored by git. */
export const HOME = path.resolve(
  process.env['RANKLOG_SERVICES_DIR'] ?? path.join(ROOT, '.services'),
);

/** @typedef {'kafka' | 'redis'} ServerName */
/** @typedef {{ project: string, release: string, kafka: number, redis: number }} Compose ports by server */
/** @typedef {{ mode?: 'native' | 'docker', kafka?: { port: number, controller?: number, release: string }, redis?: { port: number }, docker?: Compose }} State */

const FILE = path.join(HOME, 'state.json');

/** @returns {State} where servers were started last; they may have ended since */
export function readState() {
  return existsSync(FILE) ? /** @type {State} */ (JSON.parse(readFileSync(FILE, 'utf8'))) : {};
}

/** @param {Partial<State>} change */
export function changeState(change) {
  mkdirSync(HOME, { recursive: true });
  writeFileSync(`${FILE}.new`, `${JSON.stringify({ ...readState(), ...change }, null, 2)}\n`);
  renameSync(`${FILE}.new`, FILE);
}

/** Deletes the data, logs and state of the servers; downloads stay. */
export function purgeData() {
  if (!existsSync(HOME)) return;
  const names = readdirSync(HOME).filter((name) =>
    /^(kafka-data|redis-data|logs|state)/.test(name),
  );
  for (const name of names) rmSync(path.join(HOME, name), { recursive: true, force: true });
}

/**
 * The log of a native server.
 * @param {ServerName} name
 */
export function logFile(name) {
  return path.join(HOME, 'logs', `${name}.log`);
}

/**
 * Remembers a process as ours: its pid, and when it started.
 * @param {ServerName} name @param {number} pid
 */
export function writePid(name, pid) {
  writeFileSync(pidFile(name), `${pid}\n${processStart(pid) ?? ''}\n`);
}

/** @param {ServerName} name */
export function removePid(name) {
  rmSync(pidFile(name), { force: true });
}

/**
 * The pid of a native server that runs. Ignores a pid file whose process ended, or whose
 * pid belongs to another process by now.
 * @param {ServerName} name
 * @returns {number | undefined}
 */
export function runningPid(name) {
  if (!existsSync(pidFile(name))) return undefined;
  const [pid, start] = readFileSync(pidFile(name), 'utf8').split('\n');
  return processStart(Number(pid)) === start ? Number(pid) : undefined;
}

/** @param {ServerName} name */
function pidFile(name) {
  return path.join(HOME, `${name}.pid`);
}
