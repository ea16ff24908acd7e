import { EXIT } from './exit-codes.js';

/** Time for a command to clean up after the reader of its output is gone. */
const PIPE_GRACE_MS = 2_000;

/** The action of a command. It loads the code of the command, runs it, and sets the exit code that the code returns. */
export function lazy<Arguments extends unknown[]>(
  load: () => Promise<(...args: Arguments) => Promise<number>>,
): (...args: Arguments) => Promise<void> {
  return (...args) => run(async () => (await load())(...args));
}

async function run(command: () => Promise<number>): Promise<void> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.emit('SIGINT'); // the reader is gone: end a command that watches
    setTimeout(() => process.exit(EXIT.ok), PIPE_GRACE_MS).unref();
  });
  try {
    process.exitCode = await command();
  } catch (error) {
    const { describe, exitCodeOf } = await import('./failures.js');
    process.exitCode = exitCodeOf(error);
    process.stderr.write(`ranklog: ${describe(error)}\n`);
  }
}
