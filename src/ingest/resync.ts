import { setTimeout as delay } from 'node:timers/promises';
import { LEASE_MS, type ContinuityStore } from '#board-store';
import type { Comparison, Continuity, RecordIdentity } from '#board-store';
import type { DefinitionRecord } from '#contracts';
import type { Logger } from '../infra/logger.js';
import { RecurringTask } from '../infra/recurring-task.js';
import { recoveryTargetsText } from './recovery-targets-text.js';

/** How often it is looked whether somebody else has ended a comparison. */
const ASK_AGAIN_MS = 100;

/** What of the boards is in Kafka. */
export interface KeptInKafka {
  /** Fences all publishers and answers the published position of every partition. */
  finalPositions(): Promise<ReadonlyMap<number, number>>;
  /** By board. */
  definitionRecords(): Promise<ReadonlyMap<string, DefinitionRecord>>;
}

/** A shard is not what its caller believed: it has lost writes, or has been compared with Kafka since. Starting anew helps. */
export class StoreChangedError extends Error {
  /** `continuity` is the token that was believed in. */
  constructor(
    readonly shard: number,
    readonly continuity: string,
    why: string,
  ) {
    super(`shard ${shard} of the boards ${why}; looking at what it has lost`);
    this.name = 'StoreChangedError';
  }
}

/**
 * Finds out what Redis has lost, and sets the recovery targets. A partition starts with the tokens that `continuity` gives;
 * whoever meets a sign of a loss tells `suspect`, and starts anew.
 *
 * A comparison fences the publishers of all partitions first: results that were drawn before the loss are then in Kafka,
 * below a recovery target, or in the outbox that Redis still has, or never will be published. So no rank is drawn without
 * the events whose results subscribers have. And none is drawn by a definition that is in force no more: a shard from before
 * a promotion is emptied.
 */
export class Resync {
  /** Shards with a sign of a loss, and the token that was believed in then: with a later one, somebody has looked already. */
  readonly #suspected = new Map<number, string>();
  /** Shards that were below their recovery targets and are not logged as recovered yet. */
  readonly #recovering = new Set<number>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly store: ContinuityStore,
    private readonly kafka: KeptInKafka,
    private readonly log: Logger,
    private readonly leaseMs = LEASE_MS,
  ) {}

  /** Takes note of a sign of a loss; of other errors, none. */
  suspect(error: unknown): void {
    if (!(error instanceof StoreChangedError)) return;
    const { shard, continuity } = error;
    const before = this.#suspected.get(shard);
    if (before === undefined || timeOf(continuity) > timeOf(before))
      this.#suspected.set(shard, continuity);
  }

  /** The token of each shard, compared with Kafka where that is due. One at a time in a process: partitions start together. */
  continuity(): Promise<string[]> {
    const tokens = this.#turn.catch(() => undefined).then(() => this.#tokens());
    this.#turn = tokens;
    return tokens;
  }

  /** The last applied record of a partition; undefined when there is none. */
  lastRecord(partition: number): Promise<RecordIdentity | undefined> {
    return this.store.lastRecord(partition);
  }

  /** See ContinuityStore. */
  checkedRecord(partition: number): Promise<RecordIdentity | undefined> {
    return this.store.checkedRecord(partition);
  }

  /** See ContinuityStore. */
  keepCheckedRecord(partition: number, record: RecordIdentity): Promise<void> {
    return this.store.keepCheckedRecord(partition, record);
  }

  /** Whether a partition below its published position is known to be: somebody has set its recovery target. */
  async isRecovering(shard: number, partition: number, published: number): Promise<boolean> {
    const targets = await this.store.recoveryTargets();
    const isRecovering = targets.some(
      (found) =>
        found.shard === shard && found.partition === partition && found.target >= published,
    );
    if (isRecovering) this.#recovering.add(shard);
    return isRecovering;
  }

  /** Logs once when a shard that this process saw recovery has recovered. Cost: none while no shard recovers. */
  async logRecovered(): Promise<void> {
    const seen = [...this.#recovering];
    if (seen.length === 0) return;
    const unrecovered = new Set((await this.store.recoveryTargets()).map(({ shard }) => shard));
    for (const shard of seen)
      if (!unrecovered.has(shard) && this.#recovering.delete(shard))
        this.log.info(
          `shard ${shard} has recovered: every partition has reached its recovery target`,
        );
  }

  async #tokens(): Promise<string[]> {
    const tokens: string[] = [];
    for (const shard of this.store.shards) tokens.push(await this.#token(shard));
    return tokens;
  }

  async #token(shard: number): Promise<string> {
    for (;;) {
      const seen = await this.store.continuity(shard);
      const believed = this.#suspected.get(shard);
      const isLater = believed === undefined || timeOf(seen.token) > timeOf(believed);
      const token = seen.isContinued && isLater ? seen.token : await this.#compare(shard, seen);
      if (token === undefined) {
        await delay(ASK_AGAIN_MS); // somebody else compares it
        continue;
      }
      this.#suspected.delete(shard);
      return token;
    }
  }

  /** Renews its lease until it ends. Releases the lease also on failure, so that any process may begin again at once. */
  async #compare(shard: number, seen: Continuity): Promise<string | undefined> {
    const begun = await this.store.beginResync(shard, seen, this.leaseMs);
    if (begun === undefined) return undefined;
    const renew = () => this.store.renew(begun).catch(() => undefined); // if Redis is down, `recover` fails too
    const renewal = new RecurringTask(renew, this.leaseMs / 4);
    renewal.start();
    try {
      return await this.#end(shard, begun);
    } finally {
      await renewal.stop();
      await this.store.release(begun).catch(() => undefined); // else it expires
    }
  }

  async #end(shard: number, begun: Comparison): Promise<string | undefined> {
    const positions = await this.kafka.finalPositions();
    const current = await this.kafka.definitionRecords();
    const recovered = await this.store.endResync(shard, begun, positions, current);
    if (recovered === undefined) {
      this.log.warn(
        `shard ${shard} has changed while it was compared with Kafka: Redis lost events again, its boards changed, ` +
          'or this process paused and another one took over; checking whether it must be compared again',
      );
      return undefined;
    }
    await this.#tell(shard, recovered.outdated);
    return recovered.token;
  }

  async #tell(shard: number, outdated: readonly string[]): Promise<void> {
    const recovering = (await this.store.recoveryTargets()).filter(
      (target) => target.shard === shard,
    );
    if (outdated.length > 0)
      this.log.warn(
        `shard ${shard} is from before the last change of board ${outdated.join(', ')}: all that it holds is discarded, ` +
          'and made again from the log by the live definitions',
      );
    else if (recovering.length === 0)
      this.log.info(`shard ${shard} was compared with Kafka: nothing is missing`);
    if (recovering.length === 0) return;
    this.#recovering.add(shard);
    this.log.warn(
      `shard ${shard} has lost events whose results are published; applying them again before any new event: ` +
        recoveryTargetsText(recovering),
    );
  }
}

/** When a token was given, in us of the server's clock. */
function timeOf(token: string): number {
  return Number(token.slice(token.indexOf(' ') + 1));
}
