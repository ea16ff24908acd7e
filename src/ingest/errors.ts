import type { PartitionHealth } from '#kafka-batch';

/** A partition can't go on until an operator acts: a new process would fail as well. Retries help only after that. */
export class NeedsOperatorError extends Error {
  override readonly name = 'NeedsOperatorError';
}

/** Whether a partition has stopped permanently or needs operator action. */
export function isStopped({ state, error }: PartitionHealth): boolean {
  return state === 'failed' || error instanceof NeedsOperatorError;
}
