import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { LeaseHeldError } from '#board-store';

/** Added to the time that the lease still lasts, so that it has surely expired afterwards. */
const MARGIN_MS = 100;

/**
 * Runs work that needs the lease of a board. If the holder of the lease is a dead process of this
 * machine, waits once until the lease expires.
 * @throws LeaseHeldError if the holder still runs, or ran on another machine
 */
export async function withLease<T>(
  work: () => Promise<T>,
  signal: AbortSignal,
  isAlive = isRunning,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LeaseHeldError) || !hasDied(error, isAlive)) throw error;
    await waitForExpiry(error, signal);
    return withLease(work, signal, () => true); // does not wait a second time
  }
}

async function waitForExpiry({ board, holder, msLeft }: LeaseHeldError, signal: AbortSignal) {
  process.stderr.write(
    `ranklog: ${holder}, which worked on board "${board}", has died; continuing in ` +
      `${Math.ceil(msLeft / 1_000)} s, when its lease has expired\n`,
  );
  await delay(msLeft + MARGIN_MS, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}

/** Whether the holder, named `host:pid`, was a process of this machine that has ended. */
function hasDied({ holder }: LeaseHeldError, isAlive: (pid: number) => boolean): boolean {
  const host = `${hostname()}:`;
  return holder.startsWith(host) && !isAlive(Number(holder.slice(host.length)));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
