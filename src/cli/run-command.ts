import { Command } from 'commander';
import { EXIT } from './text/exit-codes.js';

/** Time for a command to clean up after the reader of its output is gone. */
const PIPE_GRACE_MS = 2_000;

/**
 * Time for a command that throws to close its connections. A command that returns a code gets no
 * limit, as it may still be writing its answer.
 */
const FAILURE_GRACE_MS = 250;

/** Loads the code of a command, which returns the exit code. */
type Load<Arguments extends unknown[]> = () => Promise<(...args: Arguments) => Promise<number>>;

/** A command whose code is loaded when it runs. */
export class LazyCommand extends Command {
  /** Adds notes and examples below the options in the help. */
  notes(text: string): this {
    return this.addHelpText('after', `\n${text}`);
  }

  runs<Arguments extends unknown[]>(load: Load<Arguments>): this {
    return this.action((...args: Arguments) => run(async () => (await load())(...args)));
  }

  /** Runs code that prints its answer as JSON if the last option, --json, is given. */
  answers<Arguments extends unknown[]>(load: Load<Arguments>): this {
    return this.option('--json', 'print JSON').runs(load);
  }
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
    const { describe, exitCodeOf } = await import('./text/failures.js');
    process.exitCode = exitCodeOf(error);
    process.stderr.write(`ranklog: ${describe(error)}\n`);
    // An attempt to connect would keep the process alive
    setTimeout(() => process.exit(), FAILURE_GRACE_MS).unref();
  }
}
