import { CancelledError } from '../generations/errors.js';
import { EXIT } from './exit-codes.js';

/** One Ctrl-C may arrive twice: from the terminal, and from a wrapper that passes it on. */
const SAME_REQUEST_MS = 1_000;

/**
 * Runs a work that cleans up when it is cancelled: Ctrl-C and SIGTERM abort its signal, with a CancelledError; asked
 * again, the process ends at once.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const asked = new AbortController();
  let askedAt = Infinity;
  const interrupt = () => {
    if (performance.now() - askedAt >= SAME_REQUEST_MS) process.exit(EXIT.cancelled);
    if (asked.signal.aborted) return;
    askedAt = performance.now();
    process.stderr.write('ranklog: cancelling; Ctrl-C again ends at once\n');
    asked.abort(new CancelledError(false));
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  try {
    return await work(asked.signal);
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}
