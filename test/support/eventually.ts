import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 100;

/** Waits until a condition holds. A condition that throws (no server yet) does not hold. @throws after `seconds`, with its name */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  what: string,
  seconds = 120,
): Promise<void> {
  const end = performance.now() + seconds * 1_000;
  let failure: Error | undefined;
  for (;;) {
    try {
      if (await condition()) return;
      failure = undefined;
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
    }
    if (performance.now() > end) break;
    await delay(POLL_MS);
  }
  const last = failure === undefined ? '' : `; the last try failed: ${String(failure)}`;
  throw new Error(`waited ${seconds} s without success until ${what}${last}`);
}

/** The duration of work in ms. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
