import { setTimeout as delay } from 'node:timers/promises';
import type { ContinuityStore } from '#board-store';
import type { PartitionAssignment } from '#kafka-batch';
import type { Waiting, WaitReason } from '../operations/waiting.js';
import { healTargetsText } from './heal-targets-text.js';

/** How often a partition that has to wait asks again, and how often it says so. */
const ASK_AGAIN_MS = 100;
const SAY_AGAIN_MS = 5_000;

/** How one partition waits. */
export interface Waiter {
  /** Resolves after a moment; what is waited for, others have to do. @throws when the partition is taken away */
  moment(reason: WaitReason): Promise<void>;
  /** The partition goes on, or ends. */
  over(): void;
}

/** The words of partitions that wait go here. */
interface Log {
  warn(message: string): void;
}

/** Partitions of this process that wait, rather than to do what would be wrong for good. Each says so, again and again. */
export class PartitionWaits {
  readonly #waiting = new Map<number, WaitReason>();
  /** When each partition may say again that it waits for the same. */
  readonly #sayAgain = new Map<string, number>();

  constructor(
    private readonly continuity: Pick<ContinuityStore, 'healing'>,
    private readonly log: Log,
  ) {}

  /** Those that wait now. */
  get current(): Waiting {
    return this.#waiting;
  }

  of(assignment: PartitionAssignment): Waiter {
    return {
      moment: (reason) => this.#moment(assignment, reason),
      over: () => {
        this.#waiting.delete(assignment.partition);
      },
    };
  }

  async #moment(assignment: PartitionAssignment, reason: WaitReason): Promise<void> {
    const { partition, signal } = assignment;
    assignment.progress();
    this.#waiting.set(partition, reason);
    const subject = `${partition} ${reason}`;
    const now = performance.now();
    if (now >= (this.#sayAgain.get(subject) ?? 0)) {
      this.#sayAgain.set(subject, now + SAY_AGAIN_MS);
      await this.#sayWhy(assignment, reason);
    }
    await delay(ASK_AGAIN_MS, undefined, { signal });
  }

  async #sayWhy({ topic, partition }: PartitionAssignment, reason: WaitReason): Promise<void> {
    if (reason === 'watermarkMoved') {
      this.log.warn(
        `${topic}/${partition} waits: somebody has moved its watermark in Redis, which is not that of the last applied record; ` +
          '"ranklog boards verify" shows it, "ranklog boards rebuild" puts it right; nothing is lost meanwhile',
      );
      return;
    }
    const healing = await this.continuity.healing();
    if (healing.length > 0)
      this.log.warn(
        `${topic}/${partition} waits until others are applied again: ${healTargetsText(healing)}`,
      );
  }
}
