// @ts-check
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { processText, runningPidIn } from './process-start.mjs';

/**
 * Runs `work` while no other process holds the lock file; waits while one does. A lock whose process has ended does not count.
 * @template T
 * @param {string} file @param {() => T | Promise<T>} work
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
  // The first attempt deletes the lock of a process that has ended.
  if (!take(file) && !take(file)) return undefined;
  const remove = () => rmSync(file, { force: true });
  process.once('exit', remove);
  return () => {
    process.off('exit', remove);
    remove();
  };
}

/** @param {string} file */
function take(file) {
  try {
    writeFileSync(file, processText(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    if (!isHeld(file)) rmSync(file, { force: true });
    return false;
  }
}

/** @param {string} file */
function isHeld(file) {
  try {
    const text = readFileSync(file, 'utf8');
    return text === '' || runningPidIn(text) !== undefined; // empty: the holder is about to write its pid
  } catch {
    return false;
  }
}
