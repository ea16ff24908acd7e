// @ts-check
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, renameSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lastLines, logTail, say, ServiceError } from './say.mjs';
import { HOME, logFile, removePid, runningPid, writePid } from './state.mjs';

/** @typedef {import('./state.mjs').ServerName} ServerName */

/**
 * Starts a server that outlives this script. Its output goes to its log; the previous log is kept as `.previous`.
 * @param {ServerName} name @param {string} command @param {string[]} args
 */
export function startServer(name, command, args) {
  const log = logFile(name);
  mkdirSync(path.dirname(log), { recursive: true });
  if (existsSync(log)) renameSync(log, `${log}.previous`);
  const file = openSync(log, 'w');
  const child = spawn(command, args, { cwd: HOME, detached: true, stdio: ['ignore', file, file] });
  closeSync(file);
  if (child.pid === undefined) throw new ServiceError(`${command} can't be started`);
  child.unref();
  writePid(name, child.pid);
}

/**
 * Waits until a server answers; throws an error with the tail of its log if it ends or takes too long.
 * @param {{ name: ServerName, answers: () => Promise<unknown>, seconds: number }} wait
 */
export async function waitUntilItAnswers({ name, answers, seconds }) {
  const runs = () => runningPid(name) !== undefined;
  const failure = await retryFor(seconds, answers, runs).then(() => undefined, String);
  if (!runs()) throw new ServiceError(`${name} ended while starting; ${logTail(logFile(name))}`);
  if (failure === undefined) return;
  throw new ServiceError(
    `${name} (pid ${runningPid(name)}) does not answer after ${seconds} s: ${failure}; ${logTail(logFile(name))}`,
  );
}

/**
 * Retries until `work` succeeds. Throws the last error once `seconds` have passed or `canSucceed` returns false.
 * @template T
 * @param {number} seconds @param {() => Promise<T>} work @param {() => boolean} [canSucceed]
 * @returns {Promise<T>}
 */
export async function retryFor(seconds, work, canSucceed = () => true) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > end || !canSucceed()) throw error;
      await delay(150);
    }
  }
}

/**
 * Ends a server that this script started: with SIGTERM, after 15 s with SIGKILL. A foreign process with its pid is left alone.
 * @param {ServerName} name
 */
export async function stopServer(name) {
  const forced = Date.now() + 15_000;
  for (let signal = 'SIGTERM'; ; signal = Date.now() > forced ? 'SIGKILL' : '') {
    const pid = runningPid(name);
    if (pid === undefined) break;
    if (signal) process.kill(pid, signal);
    if (signal === 'SIGTERM') say(`stopping ${name} (pid ${pid})`);
    await delay(100);
  }
  removePid(name);
}

/**
 * Runs a command to its end.
 * @param {string} command @param {string[]} args @param {import('node:child_process').SpawnSyncOptions} [options]
 * @returns {string} its output
 */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { maxBuffer: 2 ** 26, ...options, encoding: 'utf8' });
  if (result.error) throw new ServiceError(`${command} can't be run: ${result.error.message}`);
  if (result.status !== 0)
    throw new ServiceError(
      `${[command, ...args].join(' ')} failed:\n${lastLines(`${result.stdout}${result.stderr}`)}`,
    );
  return result.stdout;
}
