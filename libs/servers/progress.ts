import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { lastLines, ServersError } from './servers-error.js';
import type { ServersFolder } from './servers-folder.js';

interface Job {
  readonly label: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Gets each line of output and returns how far the job is by now. */
  readonly read: (line: string) => string;
}

/**
 * Runs a command that takes a while, and prints its progress: on a terminal in one line that
 * changes, else with a line every 5 s.
 */
export async function runWithProgress(
  folder: ServersFolder,
  { label, command, args, env = process.env, read }: Job,
): Promise<void> {
  const { signal } = folder;
  const child = spawn(command, args, { env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
  folder.say(label);
  const progress = new Progress(`${folder.label}: ${label}`);
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => {
      output.push(line);
      progress.reached = read(line);
    });
  await ended(child).finally(() => progress.stop());
  const code = child.exitCode;
  if (code !== 0)
    throw new ServersError(
      `${label} failed (${[command, ...args].join(' ')}):\n${lastLines(output.join('\n'))}`,
    );
}

/** Prints how far a job is, until `stop`. */
class Progress {
  /** How far the job is, as text. */
  reached = '';
  readonly #isTerminal = process.stderr.isTTY;
  readonly #startedAt = Date.now();
  readonly #timer: NodeJS.Timeout;

  constructor(private readonly label: string) {
    this.#timer = setInterval(() => this.#show(), this.#isTerminal ? 250 : 5_000);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#show();
    if (this.#isTerminal) process.stderr.write('\n');
  }

  #show(): void {
    const seconds = Math.round((Date.now() - this.#startedAt) / 1000);
    const text = `${this.label}: ${this.reached} (${seconds} s)`;
    if (!this.#isTerminal) {
      process.stderr.write(`${text}\n`);
      return;
    }
    const width = process.stderr.columns || 80;
    process.stderr.write(`\r\x1b[K${text.slice(0, width - 1)}`);
  }
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve());
  });
}
