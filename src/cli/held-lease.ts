import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { LeaseHeldError, type LeaseStore } from '#board-store';
import { formatTime } from '#board';
import { CommandError, EXIT } from './exit-codes.js';

interface Waiting {
  readonly leases: Pick<LeaseStore, 'statuses'>;
  readonly signal: AbortSignal;
  /** Whether a process of this machine runs. */
  readonly isAlive?: (pid: number) => boolean;
}

/** A lease is held a little longer than was said when it was renewed meanwhile. */
const MARGIN_MS = 100;

/**
 * The work of a board's lease. One that a process of this machine has left behind runs out within seconds: that is waited
 * for, once. Of any other holder it is told what they do, and since when.
 * @throws CommandError
 */
export async function withLease<T>(work: () => Promise<T>, waiting: Waiting): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LeaseHeldError)) throw error;
    const { isAlive = runs, signal } = waiting;
    if (isOfThisMachine(error) && !isAlive(pidOf(error))) {
      const seconds = Math.ceil(error.msLeft / 1_000);
      process.stderr.write(
        `ranklog: ${error.holder}, which worked on board "${error.board}", is gone; going on where it was in ${seconds} s\n`,
      );
      await delay(error.msLeft + MARGIN_MS, undefined, { signal }).catch(() => undefined);
      signal.throwIfAborted();
      return withLease(work, { ...waiting, isAlive: () => true });
    }
    throw await refusal(error, waiting);
  }
}

/** Holders are called `host:pid`. */
function isOfThisMachine({ holder }: LeaseHeldError): boolean {
  return holder.startsWith(`${hostname()}:`);
}

function pidOf({ holder }: LeaseHeldError): number {
  return Number(holder.slice(holder.lastIndexOf(':') + 1));
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function refusal(error: LeaseHeldError, { leases }: Waiting): Promise<CommandError> {
  const { board, message } = error;
  const running = (await leases.statuses()).find(
    (status) => status.board === board && status.state === 'running',
  );
  if (running === undefined) return new CommandError(message, EXIT.unreachable);
  const { done, total } = running;
  const work = `${running.kind}, since ${formatTime(running.startedAt)}, at ${done} of ${total} records`;
  return new CommandError(`${message}. It is a ${work}`, EXIT.unreachable);
}
