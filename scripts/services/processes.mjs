// @ts-check
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HOME, isOurs, startTicks } from './state.mjs';
import { logTail, say, ServiceError } from './say.mjs';

/**
 * Starts a server that outlives this script; its words go to a log.
 * @param {string} name @param {string} command @param {string[]} args
 * @returns {{ pid: number, startTicks: string, log: string }}
 */
export function startServer(name, command, args) {
  const log = path.join(HOME, 'logs', `${name}.log`);
  mkdirSync(path.dirname(log), { recursive: true });
  const file = openSync(log, 'w');
  const child = spawn(command, args, { cwd: HOME, detached: true, stdio: ['ignore', file, file] });
  child.unref();
  closeSync(file);
  if (child.pid === undefined) throw new ServiceError(`${command} can't be started`);
  return { pid: child.pid, startTicks: startTicks(child.pid) ?? '', log };
}

/**
 * Ends a server that this script started: politely, then by force. A foreign process with its pid is left alone.
 * @param {string} name @param {import('./state.mjs').NativeServer | undefined} server
 */
export async function stopServer(name, server) {
  if (server === undefined || !isOurs(server)) return;
  process.kill(server.pid, 'SIGTERM');
  for (let tries = 0; tries < 100 && isOurs(server); tries++) await delay(100);
  if (isOurs(server)) process.kill(server.pid, 'SIGKILL');
  say(`${name} is down`);
}

/**
 * Waits until a server answers; an error, with the tail of its log, when it ends or takes too long.
 * @param {{ name: string, server: { pid: number, startTicks: string }, log: string, answers: () => Promise<unknown>, seconds: number }} wait
 */
export async function waitUntilItAnswers({ name, server, log, answers, seconds }) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    try {
      await answers();
      return;
    } catch (error) {
      if (startTicks(server.pid) !== server.startTicks)
        throw new ServiceError(`${name} ended while starting; ${logTail(log)}`);
      if (Date.now() > end)
        throw new ServiceError(
          `${name} does not answer after ${seconds} s (${String(error)}); ${logTail(log)}`,
        );
      await delay(150);
    }
  }
}

/**
 * Runs a command to its end.
 * @param {string} command @param {string[]} args @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {string} its output
 */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 26, ...options });
  if (result.error) throw new ServiceError(`${command} can't be run: ${result.error.message}`);
  if (result.status !== 0)
    throw new ServiceError(
      `${[command, ...args].join(' ')} failed:\n${`${result.stdout}${result.stderr}`.trim().split('\n').slice(-30).join('\n')}`,
    );
  return result.stdout;
}

/** @param {string} command */
export function isInstalled(command) {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;
}

/**
 * A port that is free: the wanted one, if it is.
 * @param {number | undefined} wanted
 * @returns {Promise<number>}
 */
export async function freePort(wanted) {
  return (await tryPort(wanted ?? 0)) ?? (await tryPort(0)) ?? 0;
}

/** @param {number} port @returns {Promise<number | undefined>} */
function tryPort(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined));
    });
  });
}
