import { EXIT } from './exit-codes.js';

/** Time for a command to clean up after its reader has gone. */
const PIPE_GRACE_MS = 2_000;

/** Runs a command: its exit code is the process's; an error is one paragraph, its stack only for debugging. */
export async function runCommand(command: () => Promise<number>): Promise<void> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.emit('SIGINT'); // the reader has seen enough; a command that watches ends as if asked to
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
