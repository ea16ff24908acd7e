import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 250;

/**
 * Calls `onChange` after each change of a file, one call at a time, until the signal is aborted.
 * `known` is the text that the caller has handled. Compares texts: editors replace files, and not
 * all file systems report changes.
 */
export async function watchFile(
  file: string,
  known: string | undefined,
  onChange: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  let handled = known;
  let previous = known;
  while (await pause(signal)) {
    const text = await readText(file);
    // While the text differs from the previous poll, an editor may still be writing.
    if (text !== handled && text === previous) {
      handled = text;
      await onChange();
    }
    previous = text;
  }
}

/** Returns undefined if the file does not exist. */
export function readText(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined);
}

/** Waits for the next poll. Returns false once the signal is aborted. */
async function pause(signal: AbortSignal): Promise<boolean> {
  await delay(POLL_MS, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}
