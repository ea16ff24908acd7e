// @ts-check
import { existsSync, readFileSync } from 'node:fs';

/**
 * A word of progress, to standard error: standard output is for what was asked for.
 * @param {string} text
 */
export function say(text) {
  process.stderr.write(`services: ${text}\n`);
}

/** What went wrong, in words for the one who reads it; without a stack. */
export class ServiceError extends Error {}

/**
 * The last lines of a log, for an error.
 * @param {string} file
 */
export function logTail(file) {
  if (!existsSync(file)) return `(there is no log ${file})`;
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(-30);
  return `last lines of ${file}:\n${lines.join('\n')}`;
}
