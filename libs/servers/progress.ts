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
 * Runs a command that takes a while and says how far it is: on a terminal in one line that changes,
 * else with a line every 5 s.
 */
export async function runWithProgress(
  folder: ServersFolder,
  { label, command, args, env = process.env, read }: Job,
): Promise<void> {
  const { signal } = folder;
  const child = spawn(command, args, { env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
  const progress = startProgress(folder, label);
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => {
      output.push(line);
      progress.far = read(line);
    });
  await ended(child).finally(progress.stop);
  const code = child.exitCode;
  if (code !== 0)
    throw new ServersError(
      `${label} failed (${[command, ...args].join(' ')}):\n${lastLines(output.join('\n'))}`,
    );
}

function startProgress(folder: ServersFolder, label: string) {
  const alive = process.stderr.isTTY;
  const started = Date.now();
  folder.say(label);
  const progress = { far: '', stop };
  const timer = setInterval(show, alive ? 250 : 5_000);
  return progress;

  function show() {
    const text =
      `${folder.label}: ${label}: ${progress.far} ` +
      `(${Math.round((Date.now() - started) / 1000)} s)`;
    if (alive) process.stderr.write(`\r\x1b[K${text.slice(0, (process.stderr.columns || 80) - 1)}`);
    else process.stderr.write(`${text}\n`);
  }
  function stop() {
    clearInterval(timer);
    show();
    if (alive) process.stderr.write('\n');
  }
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve());
  });
}
