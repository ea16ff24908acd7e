import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { ContinuityStore, type RecoveryTarget } from '#board-store';
import type { PartitionAssignment } from '#kafka-batch';
import { Logger } from '../infra/logger.js';

const RETRY_MS = 100;
const LOG_EVERY_MS = 5_000;

/**
 * Partitions of this process that wait until other partitions reach their recovery targets. Logs
 * each wait every few seconds.
 */
@Injectable()
export class PartitionWaits {
  /** By partition: the shards that it waits for. */
  readonly #waiting = new Map<number, Set<number>>();
  /** By partition: when its wait may be logged again, by performance.now. */
  readonly #nextLogs = new Map<number, number>();

  constructor(
    @Inject(ContinuityStore) private readonly continuity: Pick<ContinuityStore, 'recoveryTargets'>,
    private readonly log: Logger,
  ) {}

  /** By partition: the shards that it waits for. */
  get current(): ReadonlyMap<number, ReadonlySet<number>> {
    return this.#waiting;
  }

  done({ partition }: PartitionAssignment, shard: number): void {
    const shards = this.#waiting.get(partition);
    if (shards === undefined) return;
    shards.delete(shard);
    if (shards.size === 0) this.#waiting.delete(partition);
  }

  /**
   * Resolves when the partition may try again.
   * @throws when the partition is taken away
   */
  async wait(assignment: PartitionAssignment, shard: number): Promise<void> {
    const { topic, partition, signal } = assignment;
    assignment.progress();
    const shards = this.#waiting.get(partition) ?? new Set();
    this.#waiting.set(partition, shards.add(shard));

    if (this.#isLogDue(partition)) {
      const targets = await this.continuity.recoveryTargets();
      if (targets.length > 0)
        this.log.warn(
          `${topic}/${partition} waits until other partitions have recovered: ` +
            recoveryTargetsText(targets),
        );
    }
    await delay(RETRY_MS, undefined, { signal });
  }

  #isLogDue(partition: number): boolean {
    const now = performance.now();
    if (now < (this.#nextLogs.get(partition) ?? 0)) return false;
    this.#nextLogs.set(partition, now + LOG_EVERY_MS);
    return true;
  }
}

/** `partition 1 (20 of 250), 3 (0 of 90)`: the next offset to apply, and the recovery target. */
export function recoveryTargetsText(targets: readonly RecoveryTarget[]): string {
  const texts = targets.map(
    ({ partition, applied, target }) => `${partition} (${applied} of ${target})`,
  );
  return `partition ${texts.join(', ')}`;
}
