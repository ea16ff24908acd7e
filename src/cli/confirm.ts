import { createInterface } from 'node:readline/promises';

interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Whether somebody can be asked. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Asks on the terminal; anything but y or yes is a no. @throws the reason of the signal when it is aborted */
export async function confirm(
  question: string,
  signal: AbortSignal,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<boolean> {
  const asked = createInterface({ input, output });
  // A terminal that is asked hands over Ctrl-C here, not as a signal.
  asked.on('SIGINT', () => process.emit('SIGINT'));
  const closed = new Promise<string>((resolve) => asked.on('close', () => resolve('')));
  try {
    const answer = asked.question(`${question} [y/N] `, { signal });
    return /^y(es)?$/i.test((await Promise.race([answer, closed])).trim());
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    asked.close();
  }
}
