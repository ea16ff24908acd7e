// @ts-check
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { isatty } from 'node:tty';
import { watchLauncher } from './launcher.mjs';

const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * Runs a program on this terminal and passes signals on to it. Ends the program if npm, which
 * started this process, ends.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Promise<number>} its exit code, or 128 + the signal that ended it, as in shells
 */
export function runInForeground(command, args, options = {}) {
  const child = spawn(command, args, { stdio: 'inherit', ...options });
  let isEnding = false;
  const pass = (/** @type {NodeJS.Signals} */ signal) => {
    isEnding = true;
    // Ctrl-C reaches the child without us; a second SIGINT would make it end at once.
    if (signal !== 'SIGINT' || !onTerminal()) child.kill(signal);
  };
  for (const signal of SIGNALS) process.on(signal, pass);
  const stopWatching = watchLauncher(() => {
    if (!isEnding) child.kill('SIGTERM'); // after Ctrl-C, npm ends first
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      stopWatching();
      for (const name of SIGNALS) process.off(name, pass);
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

function onTerminal() {
  return [0, 1, 2].some((descriptor) => isatty(descriptor));
}
