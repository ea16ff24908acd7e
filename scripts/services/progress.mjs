// @ts-check
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { lastLines, say, ServiceError } from './say.mjs';

/**
 * Runs a command that takes a while and says how far it is: on a terminal in one line that changes, else with a line every 5 s.
 * @param {{ label: string, command: string, args: string[], env?: NodeJS.ProcessEnv, read: (line: string) => string }} job
 *   `read` gets each line of output and returns how far the job is by now
 */
export async function runWithProgress({ label, command, args, env = process.env, read }) {
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const progress = startProgress(label);
  /** @type {string[]} */
  const output = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => {
      output.push(line);
      progress.far = read(line);
    });
  await ended(child).finally(progress.stop);
  const code = child.exitCode;
  if (code !== 0)
    throw new ServiceError(
      `${label} failed (${[command, ...args].join(' ')}):\n${lastLines(output.join('\n'))}`,
    );
}

/** @param {string} label */
function startProgress(label) {
  const alive = process.stderr.isTTY;
  const started = Date.now();
  say(label);
  const progress = { far: '', stop };
  const timer = setInterval(show, alive ? 250 : 5_000);
  return progress;

  function show() {
    const text = `services: ${label}: ${progress.far} (${Math.round((Date.now() - started) / 1000)} s)`;
    if (alive) process.stderr.write(`\r\x1b[K${text.slice(0, (process.stderr.columns || 80) - 1)}`);
    else process.stderr.write(`${text}\n`);
  }
  function stop() {
    clearInterval(timer);
    show();
    if (alive) process.stderr.write('\n');
  }
}

/** @param {import('node:child_process').ChildProcess} child @returns {Promise<void>} */
function ended(child) {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve());
  });
}
