import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { formatTime } from '#board';
import {
  LeaseHeldError,
  type BoardBuildingError,
  type LeaseStore,
  type ReconciliationStatus,
} from '#board-store';
import { CommandError, EXIT } from './exit-codes.js';
import { countText, durationText } from './value-text.js';

interface LeaseOptions {
  readonly leases: Pick<LeaseStore, 'statuses'>;
  readonly signal: AbortSignal;
  /** Whether a process of this machine runs. */
  readonly isAlive?: (pid: number) => boolean;
}

/** Added to the time that the lease still lasts, so that it has surely expired afterwards. */
const MARGIN_MS = 100;

/**
 * Runs work that needs the lease of a board. If the holder of the lease is a dead process of this machine, waits once until
 * the lease expires. Refuses if the holder still runs, or ran on another machine.
 * @throws CommandError
 */
export async function withLease<T>(work: () => Promise<T>, options: LeaseOptions): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof LeaseHeldError)) throw error;
    const { isAlive = isRunning, signal, leases } = options;
    if (isOfThisMachine(error) && !isAlive(pidOf(error))) {
      await waitForExpiry(error, signal);
      return withLease(work, { ...options, isAlive: () => true });
    }
    throw refusal(error, await leases.statuses());
  }
}

async function waitForExpiry({ board, holder, msLeft }: LeaseHeldError, signal: AbortSignal) {
  process.stderr.write(
    `ranklog: ${holder}, which worked on board "${board}", has died; continuing in ${Math.ceil(msLeft / 1_000)} s, when its lease has expired\n`,
  );
  await delay(msLeft + MARGIN_MS, undefined, { signal }).catch(() => undefined);
  signal.throwIfAborted();
}

/** Holders are named `host:pid`. */
function isOfThisMachine({ holder }: LeaseHeldError): boolean {
  return holder.startsWith(`${hostname()}:`);
}

function pidOf({ holder }: LeaseHeldError): number {
  return Number(holder.slice(holder.lastIndexOf(':') + 1));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function refusal(
  { board, message }: LeaseHeldError,
  statuses: readonly ReconciliationStatus[],
): CommandError {
  const run = runOf(board, statuses);
  if (run === undefined) return new CommandError(message, EXIT.unreachable);
  const { kind, startedAt, done, total } = run;
  const work = `a ${kind} since ${formatTime(startedAt)}, at ${done} of ${total} records`;
  return new CommandError(`${message}. That process runs ${work}`, EXIT.unreachable);
}

/** The error for reading a board whose first build has not ended, with the progress of that build if it runs. */
export function buildingRefusal(
  { board, message }: BoardBuildingError,
  statuses: readonly ReconciliationStatus[],
): CommandError {
  const run = runOf(board, statuses);
  if (run === undefined) return new CommandError(message, EXIT.no);
  const { holder, done, total, secondsLeft } = run;
  const left = secondsLeft === null ? '' : `, about ${durationText(secondsLeft)} left`;
  return new CommandError(
    `board "${board}" can't be read yet: ${holder} builds it, ${countText(done)} of ${countText(total)} records${left}`,
    EXIT.no,
  );
}

function runOf(board: string, statuses: readonly ReconciliationStatus[]) {
  return statuses.find((status) => status.board === board && status.state === 'running');
}
