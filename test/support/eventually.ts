import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 100;

/**
 * Waits until a condition holds. A condition that throws (no server yet) does not hold.
 * @throws after `seconds`, naming `what`
 */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  what: string,
  seconds = 120,
): Promise<void> {
  const end = performance.now() + seconds * 1_000;
  for (;;) {
    let last = '';
    try {
      if (await condition()) return;
    } catch (error) {
      last = `; the last try failed: ${String(error)}`;
    }
    if (performance.now() > end)
      throw new Error(`waited ${seconds} s without success until ${what}${last}`);
    await delay(POLL_MS);
  }
}

/** The duration of work in ms. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
