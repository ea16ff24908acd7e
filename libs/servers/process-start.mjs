// @ts-check
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/**
 * When a process started. Together with the pid, it identifies a process; a pid alone may be reused
 * by a later process.
 * @param {number} pid
 * @returns {string | undefined} undefined when there is no such process; empty when the time is
 * unknown, as on Windows
 */
export function processStart(pid) {
  if (!hasProc()) return fromPs(pid, 'lstart');
  const [state, ...fields] = fromProc(pid);
  return state === 'Z' ? undefined : fields[18];
}

/**
 * The pid of the parent of a process; 0 when there is no such process.
 * @param {number} pid
 */
export function parentOf(pid) {
  const parent = hasProc() ? fromProc(pid)[1] : fromPs(pid, 'ppid');
  return Number(parent ?? 0);
}

function hasProc() {
  return existsSync('/proc/self/stat');
}

/**
 * The fields after the name of the program: state, parent, ...
 * @param {number} pid
 */
function fromProc(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

/** @param {number} pid @param {string} field */
function fromPs(pid, field) {
  const { stdout, error } = spawnSync('ps', ['-o', `${field}=`, '-p', String(pid)], {
    encoding: 'utf8',
  });
  const isPsMissing = error !== undefined;
  if (isPsMissing) return isAlive(pid) ? '' : undefined;
  return stdout.trim() || undefined;
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/**
 * A text that identifies a process, for lock and pid files.
 * @param {number} pid
 */
export function processText(pid) {
  return `${pid}\n${processStart(pid) ?? ''}\n`;
}

/**
 * The pid in a text of `processText`; undefined if that process has ended.
 * @param {string} text
 */
export function runningPidIn(text) {
  const [pidText, start] = text.split('\n');
  if (start === undefined) return undefined;

  const pid = Number(pidText);
  return processStart(pid) === start ? pid : undefined;
}
