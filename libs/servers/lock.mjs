// @ts-check
import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { processText, runningPidIn } from './process-start.mjs';

/**
 * Runs `work` while no other process holds the lock file; waits while one does. A lock whose
 * process has ended does not count.
 * @template T
 * @param {string} file
 * @param {() => T | Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(file, work) {
  let release = tryLock(file);
  while (release === undefined) {
    await delay(100);
    release = tryLock(file);
  }
  try {
    return await work();
  } finally {
    release();
  }
}

/**
 * Takes the lock file until the end of the process, or until the returned function is called.
 * @param {string} file
 * @returns {(() => void) | undefined} undefined while another process holds it
 */
export function tryLock(file) {
  mkdirSync(path.dirname(file), { recursive: true });
  if (!take(file)) {
    deleteStale(file);
    if (!take(file)) return undefined;
  }
  const remove = () => rmSync(file, { force: true });
  process.once('exit', remove);
  return () => {
    process.off('exit', remove);
    remove();
  };
}

/**
 * @param {string} file
 * @returns {boolean} false if the file exists
 */
function take(file) {
  // A process that is killed while it writes must not leave an empty lock.
  const written = `${file}.${randomUUID()}`;
  writeFileSync(written, processText(process.pid));
  try {
    linkSync(written, file);
    return true;
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    return false;
  } finally {
    rmSync(written);
  }
}

/**
 * Deletes the lock of a process that has ended. Takes a second lock meanwhile: otherwise, a process
 * that has seen the stale lock could delete the lock of the next holder.
 * @param {string} file
 */
function deleteStale(file) {
  if (!isStale(file)) return;
  const unlock = tryLock(`${file}.stale`);
  if (unlock === undefined) return;
  if (isStale(file)) rmSync(file);
  unlock();
}

/** @param {string} file */
function isStale(file) {
  try {
    return runningPidIn(readFileSync(file, 'utf8')) === undefined;
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    return false; // the holder has just released it
  }
}

/** @param {unknown} error @param {string} code */
function hasCode(error, code) {
  return error instanceof Error && 'code' in error && error.code === code;
}
