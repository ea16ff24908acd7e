import { createInterface, type ReadLineOptions } from 'node:readline/promises';
import { SAME_REQUEST_MS } from '../../infra/shutdown.js';
import { CancelledError } from '../../reconciliation/runs/run-errors.js';
import { CommandError, EXIT } from '../text/exit-codes.js';

/**
 * Lets work clean up when it is cancelled. The first Ctrl-C or SIGTERM aborts the signal with a
 * CancelledError. A second Ctrl-C or SIGTERM, at least a second later, ends the process. Once this
 * is disposed, Ctrl-C and SIGTERM end the process at once, as usual.
 */
export function interruption(): Disposable & { readonly signal: AbortSignal } {
  const cancellation = new AbortController();
  let requestedAt = Infinity;
  const interrupt = () => {
    if (performance.now() - requestedAt >= SAME_REQUEST_MS) process.exit(EXIT.cancelled);
    if (cancellation.signal.aborted) return;
    requestedAt = performance.now();
    process.stderr.write('ranklog: cancelling; press Ctrl-C again to end immediately\n');
    cancellation.abort(new CancelledError(false));
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  return {
    signal: cancellation.signal,
    [Symbol.dispose]: () => {
      process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    },
  };
}

/**
 * Asks for confirmation.
 * @throws CommandError if the user declines, or if there is no terminal: it then suggests `instead`
 */
export async function confirmOnTerminal(
  question: string,
  signal: AbortSignal,
  { command, instead }: { command: string; instead: string },
): Promise<void> {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    throw new CommandError(
      `${command} asks for confirmation, and there is no terminal; use --yes, or ${instead}`,
      EXIT.usage,
    );
  if (!(await confirm(question, signal)))
    throw new CommandError('cancelled: nothing was changed', EXIT.no);
}

/**
 * Asks on the terminal; only y and yes confirm.
 * @throws the reason of the signal when it is aborted
 */
export async function confirm(
  question: string,
  signal: AbortSignal,
  terminal: ReadLineOptions = { input: process.stdin, output: process.stderr },
): Promise<boolean> {
  const prompt = createInterface(terminal);
  // readline reports Ctrl-C here, not as a signal
  prompt.on('SIGINT', () => process.emit('SIGINT'));
  const closed = new Promise<string>((resolve) => prompt.on('close', () => resolve('')));
  try {
    const answer = prompt.question(`${question} [y/N] `, { signal });
    return /^y(es)?$/i.test((await Promise.race([answer, closed])).trim());
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    prompt.close();
  }
}
