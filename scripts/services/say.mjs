// @ts-check
import { existsSync, readFileSync } from 'node:fs';

/** What went wrong, in words for the one who reads it; without a stack. */
export class ServiceError extends Error {}

/**
 * A word of progress, to standard error: standard output is for what was asked for.
 * @param {string} text
 */
export function say(text) {
  process.stderr.write(`services: ${text}\n`);
}

/**
 * An error for the one at the terminal; with a stack only where it is a bug.
 * @param {unknown} error
 */
export function sayError(error) {
  if (error instanceof ServiceError) say(error.message);
  else say(error instanceof Error ? (error.stack ?? error.message) : String(error));
}

/**
 * The last 30 lines of a log and where it is.
 * @param {string} file
 */
export function logTail(file) {
  if (!existsSync(file)) return `there is no log ${file}`;
  return `last lines of ${file}:\n${lastLines(readFileSync(file, 'utf8'))}`;
}

/** @param {string} text */
export function lastLines(text) {
  return text.trimEnd().split('\n').slice(-30).join('\n');
}
