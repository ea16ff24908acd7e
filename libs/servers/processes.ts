import { spawn, spawnSync, type SpawnSyncOptions } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, renameSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lastLines, logTail, ServersError } from './servers-error.js';
import type { ProcessName, ServersFolder } from './servers-folder.js';

/** Starts a process that outlives this one, with a log; keeps the previous log as `.previous`. */
export function startProcess(
  folder: ServersFolder,
  name: ProcessName,
  [command, ...args]: readonly [string, ...string[]],
): void {
  const log = folder.logFile(name);
  mkdirSync(path.dirname(log), { recursive: true });
  if (existsSync(log)) renameSync(log, `${log}.previous`);
  const file = openSync(log, 'w');
  const stdio = ['ignore' as const, file, file];
  const child = spawn(command, args, { cwd: folder.path, detached: true, stdio });
  closeSync(file);
  if (child.pid === undefined) throw new ServersError(`${command} can't be started`);
  child.unref();
  folder.writePid(name, child.pid);
}

interface StartedServer {
  readonly name: ProcessName;
  /** Rejects unless the server answers. */
  readonly answers: () => Promise<unknown>;
  /** How long to wait. */
  readonly seconds: number;
}

/**
 * Waits until a server answers.
 * @throws ServersError with the tail of its log if it ends or takes too long
 */
export async function waitUntilItAnswers(
  folder: ServersFolder,
  { name, answers, seconds }: StartedServer,
): Promise<void> {
  const runs = () => folder.runningPid(name) !== undefined;
  const log = folder.logFile(name);
  const mayAnswer = () => runs() && folder.signal?.aborted !== true;
  const failure = await retryFor(seconds, answers, mayAnswer).then(() => undefined, String);
  if (!runs()) throw new ServersError(`${name} ended while starting; ${logTail(log)}`);
  if (failure === undefined) return;
  throw new ServersError(
    `${name} (pid ${folder.runningPid(name) ?? 0}) does not answer after ${seconds} s: ` +
      `${failure}; ${logTail(log)}`,
  );
}

/**
 * Retries until `work` succeeds. Throws the last error once `seconds` have passed or `canSucceed`
 * returns false.
 */
export async function retryFor<T>(
  seconds: number,
  work: () => Promise<T>,
  canSucceed = () => true,
): Promise<T> {
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
 * Ends a server of the folder: with SIGTERM, after 15 s with SIGKILL. Never ends another process
 * that has got its pid.
 */
export async function stopServer(folder: ServersFolder, name: ProcessName): Promise<void> {
  const killAt = Date.now() + 15_000;
  let pid = folder.runningPid(name);
  if (pid !== undefined) {
    process.kill(pid, 'SIGTERM');
    folder.say(`stopping ${name} (pid ${pid})`);
  }
  while (pid !== undefined) {
    await delay(100);
    pid = folder.runningPid(name);
    if (pid !== undefined && Date.now() > killAt) process.kill(pid, 'SIGKILL');
  }
  folder.removePid(name);
}

/**
 * Runs a command to its end. Returns its output.
 * @throws ServersError
 */
export function run(
  command: string,
  args: readonly string[],
  options: SpawnSyncOptions = {},
): string {
  const result = spawnSync(command, args, { maxBuffer: 2 ** 26, ...options, encoding: 'utf8' });
  if (result.error) throw new ServersError(`${command} can't be run: ${result.error.message}`);
  if (result.status !== 0)
    throw new ServersError(
      `${[command, ...args].join(' ')} failed:\n${lastLines(`${result.stdout}${result.stderr}`)}`,
    );
  return result.stdout;
}
