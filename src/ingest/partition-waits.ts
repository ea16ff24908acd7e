import { setTimeout as delay } from 'node:timers/promises';
import type { ContinuityStore } from '#board-store';
import type { PartitionAssignment } from '#kafka-batch';
import type { Logger } from '../infra/logger.js';
import { recoveryTargetsText } from './recovery-targets-text.js';

/** How often a partition that has to wait asks again, and how often it says so. */
const ASK_AGAIN_MS = 100;
const SAY_AGAIN_MS = 5_000;

/** How one partition waits for others to recover. */
export interface Waiter {
  /** Resolves after a moment. @throws when the partition is taken away */
  moment(): Promise<void>;
  /** The partition goes on, or ends. */
  over(): void;
}

/** Partitions of this process that wait until others, which Redis has lost events of, reach their recovery targets. Each says so every few seconds. */
export class PartitionWaits {
  readonly #waiting = new Set<number>();
  /** When each partition may say again that it waits. */
  readonly #sayAgain = new Map<number, number>();

  constructor(
    private readonly continuity: Pick<ContinuityStore, 'recoveryTargets'>,
    private readonly log: Logger,
  ) {}

  /** Those that wait now. */
  get current(): ReadonlySet<number> {
    return this.#waiting;
  }

  of(assignment: PartitionAssignment): Waiter {
    return {
      moment: () => this.#moment(assignment),
      over: () => {
        this.#waiting.delete(assignment.partition);
      },
    };
  }

  async #moment(assignment: PartitionAssignment): Promise<void> {
    const { partition, signal } = assignment;
    assignment.progress();
    this.#waiting.add(partition);
    const now = performance.now();
    if (now >= (this.#sayAgain.get(partition) ?? 0)) {
      this.#sayAgain.set(partition, now + SAY_AGAIN_MS);
      await this.#sayWhy(assignment);
    }
    await delay(ASK_AGAIN_MS, undefined, { signal });
  }

  async #sayWhy({ topic, partition }: PartitionAssignment): Promise<void> {
    const recovering = await this.continuity.recoveryTargets();
    if (recovering.length > 0)
      this.log.warn(
        `${topic}/${partition} waits until others are applied again: ${recoveryTargetsText(recovering)}`,
      );
  }
}
