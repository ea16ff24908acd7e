// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

/** Options of a node that answers `memory()`. */
export const REPORTS_MEMORY = [
  ...['--expose-gc', '--import', new URL('./memory-reporter.mjs', import.meta.url).href],
];

/**
 * @typedef {{ rss: number, heapUsed: number, external: number }} Memory in bytes; the heap after a
 * collection
 */

/** @typedef {import('node:stream').Readable} Readable */
/** @typedef {import('node:child_process').ChildProcessByStdio<null, Readable, Readable>} Child */

/** A process whose output is kept. */
export class BenchProcess {
  #child;
  #args;
  #output;
  #errors;
  #lines;
  #ended;

  /**
   * @param {string[]} args @param {NodeJS.ProcessEnv} env @param {string} [command] default: node
   */
  constructor(args, env, command = process.execPath) {
    this.#args = args;
    this.#child = /** @type {Child} */ (
      spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    );
    this.#output = text(this.#child.stdout);
    this.#errors = text(this.#child.stderr);
    const { stdout, stderr } = this.#child;
    this.#lines = {
      ...{ stdout: createInterface({ input: stdout }), stderr: createInterface({ input: stderr }) },
    };
    this.#ended = new Promise((resolve) => this.#child.on('close', resolve));
  }

  get pid() {
    return this.#child.pid ?? 0;
  }

  get isRunning() {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /**
   * Waits for a line.
   * @throws Error if the process ends before it
   * @param {RegExp} pattern @param {'stdout' | 'stderr'} [output] @returns
   * {Promise<RegExpExecArray>}
   */
  line(pattern, output = 'stdout') {
    const found = new Promise((resolve, reject) => {
      this.#lines[output].on('line', (line) => {
        const match = pattern.exec(line);
        if (match !== null) resolve(match);
      });
      void this.#ended.then(async (code) => reject(await this.#failure(code)));
    });
    found.catch(() => undefined); // the caller may not wait for it any more
    return found;
  }

  /** Waits for the end of the process; returns its output. @throws Error if it failed */
  async succeeded() {
    const code = await this.#ended;
    if (code !== 0) throw await this.#failure(code);
    return this.#output;
  }

  /** Of a node with REPORTS_MEMORY. @returns {Promise<Memory>} */
  async memory() {
    this.#child.send('memory');
    const [memory] = /** @type {[Memory]} */ (await once(this.#child, 'message'));
    return memory;
  }

  /** @throws Error once the process has ended by itself */
  async checkRunning() {
    if (!this.isRunning) throw await this.#failure(await this.#ended);
  }

  /** @param {NodeJS.Signals} signal */
  async end(signal) {
    if (this.isRunning) this.#child.kill(signal);
    await this.#ended;
  }

  /** @param {unknown} code */
  async #failure(code) {
    return new Error(`${this.#args.join(' ')} ended with ${String(code)}: ${await this.#errors}`);
  }
}
