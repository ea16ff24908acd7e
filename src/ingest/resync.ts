import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { ContinuityStore, LEASE_MS } from '#board-store';
import type { BegunResync, Continuity, Promoted, RecoveryTarget } from '#board-store';
import { RanklogError } from '#errors';
import { DefinitionsTopic } from '../infra/definitions-topic.js';
import { Logger } from '../infra/logger.js';
import { RecurringTask } from '../infra/recurring-task.js';
import { recoveryTargetsText } from './partition-waits.js';
import { ResultLog } from './result-log.js';

/** How often to look whether another process has ended its resync. */
const RETRY_MS = 100;

/**
 * A shard has lost writes, or was resynced since the caller read its token. A new start of the
 * partition helps.
 */
export class StoreChangedError extends RanklogError {
  /** `continuity` is the token that the caller had. */
  constructor(
    readonly shard: number,
    readonly continuity: string,
    why: string,
  ) {
    super(`shard ${shard} of the boards ${why}; comparing it with Kafka`);
  }
}

/** What a partition found at its start, by shard. */
export interface ShardStates {
  readonly appliedOffsets: readonly number[];
  /** Tokens. */
  readonly continuity: readonly string[];
}

/**
 * Compares shards with Kafka after a loss of Redis, and sets their recovery targets. A partition
 * starts with the tokens that
 * `continuity` returns. When it meets a sign of a loss, it reports that to `suspect` and starts
 * again. A resync first fences the publishers of all partitions. So results computed before the
 * loss are in Kafka below a recovery target, or in the outbox that Redis still has, or are never
 * published. No rank is computed without the events whose results subscribers have, nor by an
 * outdated definition: a shard that lacks a promotion is emptied.
 */
@Injectable()
export class Resync {
  /**
   * Shards with a sign of a loss, and the token at that time. A later token means that the shard
   * was resynced since.
   */
  readonly #suspected = new Map<number, string>();
  /** Recovering shards whose recovery is not logged yet. */
  readonly #recovering = new Set<number>();
  readonly #inTurn = pLimit(1);
  protected readonly leaseMs: number = LEASE_MS;

  constructor(
    private readonly store: ContinuityStore,
    @Inject(ResultLog) private readonly resultLog: Pick<ResultLog, 'finalPositions'>,
    @Inject(DefinitionsTopic)
    private readonly definitions: Pick<DefinitionsTopic, 'readAll' | 'unreadable'>,
    private readonly log: Logger,
  ) {}

  /** Remembers a sign of a loss; ignores other errors. */
  suspect(error: unknown): void {
    if (!(error instanceof StoreChangedError)) return;
    const { shard, continuity } = error;
    const before = this.#suspected.get(shard);
    if (before === undefined || timeOf(continuity) > timeOf(before))
      this.#suspected.set(shard, continuity);
  }

  /**
   * The token of each shard, after a resync if one is due. Calls run in sequence, because
   * partitions start at the same time.
   */
  continuity(): Promise<string[]> {
    return this.#inTurn(async () => {
      const tokens: string[] = [];
      for (const shard of this.store.allShards) tokens.push(await this.#token(shard));
      return tokens;
    });
  }

  /**
   * Checks that each shard has applied the events whose results are published, or recovers them.
   * @throws StoreChangedError
   */
  async checkApplied(
    partition: number,
    published: number,
    { appliedOffsets, continuity }: ShardStates,
  ): Promise<void> {
    for (const [shard, appliedOffset] of appliedOffsets.entries()) {
      if (appliedOffset + 1 >= published) continue;
      const targets = await this.#targetsOf(shard);
      const isRecovering = targets.some(
        (found) => found.partition === partition && found.target >= published,
      );
      if (!isRecovering)
        throw new StoreChangedError(
          shard,
          continuity[shard] ?? '',
          `has lost applied events of partition ${partition}`,
        );
      this.#recovering.add(shard);
    }
  }

  /** Logs once when a shard has recovered. Cost: none while no shard recovers. */
  async logRecovered(): Promise<void> {
    if (this.#recovering.size === 0) return;
    const targets = await this.store.recoveryTargets();
    for (const shard of this.#recovering)
      if (targets.every((target) => target.shard !== shard) && this.#recovering.delete(shard))
        this.log.info(
          `shard ${shard} has recovered: every partition has reached its recovery target`,
        );
  }

  async #token(shard: number): Promise<string> {
    for (;;) {
      const seen = await this.store.continuity(shard);
      const suspected = this.#suspected.get(shard);
      const isLater = suspected === undefined || timeOf(seen.token) > timeOf(suspected);
      const token = seen.isContinued && isLater ? seen.token : await this.#resync(shard, seen);
      if (token !== undefined) {
        this.#suspected.delete(shard);
        return token;
      }
      await delay(RETRY_MS); // another process resyncs the shard
    }
  }

  /**
   * Resyncs a shard, and renews the lease meanwhile. Releases the lease also on failure, so that
   * any process can begin at once.
   */
  async #resync(shard: number, seen: Continuity): Promise<string | undefined> {
    const begun = await this.store.beginResync(shard, seen, this.leaseMs);
    if (begun === undefined) return undefined;
    const renew = () => this.store.renew(begun).catch(() => undefined); // if Redis is down, endResync fails too
    const renewal = new RecurringTask(renew, this.leaseMs / 4);
    renewal.start();
    try {
      return await this.#setTargets(shard, begun);
    } finally {
      await renewal.stop();
      await this.store.release(begun).catch(() => undefined); // the lease expires
    }
  }

  async #setTargets(shard: number, begun: BegunResync): Promise<string | undefined> {
    const positions = await this.resultLog.finalPositions();
    const readable = await this.definitions.readAll();
    // A shard from before a promotion is emptied, also if this version can't read the promoted
    // definition.
    const current = new Map<string, Promoted>([...readable, ...this.definitions.unreadable]);
    const recovered = await this.store.endResync(shard, begun, positions, current);
    if (recovered === undefined) {
      this.log.warn(
        `shard ${shard} has changed while it was compared with Kafka: Redis lost events again, its boards changed, ` +
          'or this process paused and another one took over; checking whether it must be compared again',
      );
      return undefined;
    }
    this.#logResync(shard, recovered.outdated, await this.#targetsOf(shard));
    return recovered.token;
  }

  #logResync(shard: number, outdated: readonly string[], targets: readonly RecoveryTarget[]): void {
    if (outdated.length > 0)
      this.log.warn(
        `shard ${shard} is from before the last change of board ${outdated.join(', ')}: all that it holds is discarded, ` +
          'and built again from the log by the live definitions',
      );
    else if (targets.length === 0)
      this.log.info(`shard ${shard} was compared with Kafka: nothing is missing`);
    if (targets.length === 0) return;
    this.#recovering.add(shard);
    this.log.warn(
      `shard ${shard} has lost events whose results are published; applying them again before any new event: ` +
        recoveryTargetsText(targets),
    );
  }

  async #targetsOf(shard: number): Promise<RecoveryTarget[]> {
    const targets = await this.store.recoveryTargets();
    return targets.filter((target) => target.shard === shard);
  }
}

/** When a token was made, in µs of the server's clock. */
function timeOf(token: string): number {
  return Number(token.slice(token.indexOf(' ') + 1));
}
