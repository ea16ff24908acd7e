import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  processText,
  runningPidIn,
  ServersFolder,
  startProcess,
  stopServers,
  withLock,
} from '#servers';

/** This module, or the bundle that it is in. The reaper runs it as a program. */
const PROGRAM = realpathSync(fileURLToPath(import.meta.url));
const REAP = 'reap';

const POLL_MS = 500;
/** The servers stay up between two test files that run one after the other. */
const UNUSED_MS = 2_000;

/**
 * Names this process as a user of the servers of a folder, until it ends or calls the returned
 * function. Starts the reaper, a process that stops the servers when no live process uses them. It
 * survives Ctrl-C, and the kill of a user.
 */
export async function useServers(folder: ServersFolder): Promise<() => void> {
  const users = usersOf(folder);
  const file = path.join(users, randomUUID());
  await withUsersLock(folder, () => {
    mkdirSync(users, { recursive: true });
    writeFileSync(file, processText(process.pid));
    if (folder.runningPid('reaper') === undefined)
      startProcess(folder, 'reaper', [process.execPath, PROGRAM, REAP, folder.path]);
  });
  return () => rmSync(file, { force: true });
}

async function reap(folder: ServersFolder): Promise<void> {
  let isStopped = false;
  while (!isStopped) {
    await untilUnused(folder);
    isStopped = await stopIfUnused(folder);
  }
}

async function untilUnused(folder: ServersFolder): Promise<void> {
  let unusedMs = 0;
  while (unusedMs < UNUSED_MS) {
    await delay(POLL_MS);
    unusedMs = isUsed(folder) ? 0 : unusedMs + POLL_MS;
  }
}

/** @returns false if there is a new user */
async function stopIfUnused(folder: ServersFolder): Promise<boolean> {
  if (!existsSync(folder.path)) return true; // deleted: the lock would make it again
  return withUsersLock(folder, async () => {
    if (isUsed(folder)) return false;
    try {
      await stopServers(folder);
    } finally {
      folder.removePid('reaper'); // so that the next user starts another one
      rmSync(usersOf(folder), { recursive: true, force: true });
    }
    return true;
  });
}

function isUsed(folder: ServersFolder): boolean {
  const users = usersOf(folder);
  if (!existsSync(users)) return false;
  const files = readdirSync(users).map((name) => path.join(users, name));
  return files.some((file) => runningPidIn(textOf(file)) !== undefined);
}

/** Empty if its process has just deleted the file. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function withUsersLock<T>(folder: ServersFolder, work: () => T | Promise<T>): Promise<T> {
  return withLock(folder.file('users.lock'), work);
}

function usersOf(folder: ServersFolder): string {
  return folder.file('users');
}

const [, program, command, folder] = process.argv;
if (program === PROGRAM && command === REAP && folder !== undefined)
  void reap(new ServersFolder(folder, { label: 'ranklog' }));
