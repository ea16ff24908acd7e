// @ts-check
import { existsSync, readFileSync } from 'node:fs';

/** An error that is printed as its message, without a stack. */
export class ServiceError extends Error {}

/**
 * Prints progress to standard error: standard output is for the requested output.
 * @param {string} text
 */
export function say(text) {
  process.stderr.write(`services: ${text}\n`);
}

/**
 * Prints an error; with a stack only if it is a bug.
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
