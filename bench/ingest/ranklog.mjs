// @ts-check
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

const BOARDS = 'boards: { arena: { columns: [{ name: score }] } }\n';

/**
 * Runs ingest in a process of its own, and measures from its first commit to its last: the start of node does not count.
 * @param {import('../sandbox.mjs').Sandbox} sandbox @param {number} events
 * @returns {Promise<number>} events per second whose results are published
 */
export async function runRanklog(sandbox, events) {
  const service = spawn(process.execPath, [CLI, 'start'], {
    env: sandbox.env(BOARDS),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  let first = 0;
  while (first === 0 && service.exitCode === null) {
    await delay(10);
    first = await sandbox.published();
  }
  const begin = performance.now();
  let last = first;
  while (last < events && service.exitCode === null) {
    await delay(20);
    last = await sandbox.published();
  }
  const seconds = (performance.now() - begin) / 1_000;
  service.kill('SIGTERM');
  await new Promise((resolve) => service.on('close', resolve));
  return (events - first) / seconds;
}
