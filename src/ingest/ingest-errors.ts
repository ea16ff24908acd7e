import { RanklogError } from '#errors';
import type { PartitionHealth } from '#kafka-batch';

/**
 * A partition can't go on until an operator acts. Until then, retries and new processes fail, too.
 */
export class NeedsOperatorError extends RanklogError {}

/** Other members use our consumer group: they would take partitions and never read them. */
export class GroupTakenError extends RanklogError {
  constructor(group: string, others: string) {
    super(
      `consumer group "${group}" is in use by ${others}. Ranklog shares its group with ` +
        'nobody: end them, or give one of them another group (RANKLOG_GROUP)',
    );
  }
}

/** Processes of an earlier version still run. They assign partitions in another way. */
export class PreviousVersionError extends RanklogError {
  /** A retry succeeds once the operator has stopped the old processes. */
  override readonly retriable = true;

  constructor(group: string, members: string) {
    super(
      'processes of the previous version of this ranklog still run in consumer group ' +
        `"${group}": ${members}. They can't share partitions with this version: end all of ` +
        'them; this process joins when they have left',
    );
  }
}

/** Whether a partition has stopped permanently or needs operator action. */
export function isStopped({ state, error }: PartitionHealth): boolean {
  return state === 'failed' || error instanceof NeedsOperatorError;
}
