// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const REPORTER = new URL('./memory-reporter.mjs', import.meta.url).href;

/** @typedef {{ rss: number, heapUsed: number, external: number }} Memory in bytes; the heap after a collection */

/** `ranklog start` in its own process, which reports its memory. */
export class Service {
  #child;

  /** @param {NodeJS.ProcessEnv} env */
  constructor(env) {
    this.#child = spawn(process.execPath, ['--expose-gc', '--import', REPORTER, CLI, 'start'], {
      env,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
  }

  /** @throws Error once the process has ended by itself */
  checkAlive() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null)
      throw new Error('ranklog start has ended by itself; its messages are above');
  }

  /** @returns {Promise<Memory>} */
  async memory() {
    this.#child.send('memory');
    const answer = /** @type {[Memory]} */ (await once(this.#child, 'message'));
    return answer[0];
  }

  async stop() {
    if (this.#child.exitCode !== null) return;
    this.#child.kill('SIGTERM');
    await once(this.#child, 'close');
  }
}
