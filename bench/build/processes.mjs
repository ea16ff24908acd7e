// @ts-check
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

/** @typedef {import('./peer.mjs').Measured & { besides: number }} Run `besides`: s before and after `seconds`: node, connections, group */

/**
 * Runs a peer to its end.
 * @param {string} file @param {import('./peer.mjs').Task} task @returns {Promise<Run>}
 */
export async function runPeer(file, { topics, name, events }) {
  const begin = performance.now();
  const task = JSON.stringify({ topics, name, events });
  const args = [fileURLToPath(new URL(file, import.meta.url)), task];
  const output = await new NodeProcess(args, process.env).succeeded();
  const measured = /** @type {import('./peer.mjs').Measured} */ (
    JSON.parse(output.trim().split('\n').at(-1) ?? '')
  );
  return { ...measured, besides: (performance.now() - begin) / 1_000 - measured.seconds };
}

/** A node process whose output is kept. */
export class NodeProcess {
  #child;
  #args;
  #output;
  #errors;
  #ended;

  /** @param {string[]} args @param {NodeJS.ProcessEnv} env */
  constructor(args, env) {
    this.#args = args;
    this.#child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#output = text(this.#child.stdout);
    this.#errors = text(this.#child.stderr);
    this.#ended = new Promise((resolve) => this.#child.on('close', resolve));
  }

  get isRunning() {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Waits for the end of the process; returns its output. @throws Error if it failed */
  async succeeded() {
    const code = await this.#ended;
    const output = await this.#output;
    if (code !== 0)
      throw new Error(`${this.#args.join(' ')} ended with ${String(code)}: ${await this.#errors}`);
    return output;
  }

  /** @param {NodeJS.Signals} signal */
  async end(signal) {
    if (this.isRunning) this.#child.kill(signal);
    await this.#ended;
  }
}
