// To add a way to notice or repair a loss of Redis: read docs/how-it-works.md, which has the steps.
// libs/board-store/lua/includes/continuity.lua detects the loss, this file sets the recovery
// targets, and partition-ingest.ts applies the log again. Add a fault to test/faults/faults.

import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import { ContinuityStore, LEASE_MS } from '#board-store';
import type { BegunResync, Continuity, Promoted, Recovered, RecoveryTarget } from '#board-store';
import { allOf, RanklogError } from '#errors';
import { DefinitionsTopic } from '../infra/definitions-topic.js';
import { Logger } from '../infra/logger.js';
import { RecurringTask } from '../infra/recurring-task.js';
import {
  REFUSED_MS,
  ReplacedServerError,
  requireNewest,
  timeOf,
  type ContinuityTimes,
} from './continuity-times.js';
import { recoveryTargetsText } from './partition-waits.js';
import { ResultLog } from './result-log.js';

/** How long to wait before checking again whether another process has ended its resync. */
const RETRY_MS = 100;

/**
 * A shard has lost writes, or was resynced since the caller read its token. Restarting the
 * partition resolves it.
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

/** A shard to resync, and its continuity as read before. */
interface LostShard {
  readonly shard: number;
  readonly seen: Continuity;
}

/**
 * Matches an empty token, or one that names a server. A token made by a resync in progress names
 * none.
 */
const EMPTY_OR_OF_A_SERVER = /^([\da-f]+ |$)/;

/** The refusals of a shard on a replaced server. */
interface Refusal {
  /** The time of the shard's token. */
  readonly usedAt: number;
  /** The first and the last refusal, by performance.now(). */
  readonly since: number;
  readonly last: number;
}

/** What a partition reads at its start, by shard. */
export interface ShardStates {
  readonly appliedOffsets: readonly number[];
  /** The token of each shard. */
  readonly continuity: readonly string[];
}

/**
 * Compares shards with Kafka after a loss of Redis, and sets their recovery targets. A partition
 * starts with the tokens that `continuity` returns. When it meets a sign of a loss, it reports that
 * to `suspect` and starts again.
 *
 * A resync first fences the publishers of all partitions. So each result computed before the loss
 * is in Kafka below a recovery target, in the outbox that Redis still has, or never published.
 * Ranks are computed only after all events with published results are applied again. A shard that
 * lacks a promotion is emptied, so that no outdated definition is used.
 */
@Injectable()
export class Resync {
  /**
   * Suspected shards, with the time of the token at that moment. A token with a later time means
   * that the shard was resynced since.
   */
  readonly #suspected = new Map<number, number>();
  /** Refusals of shards on replaced servers, by shard. */
  readonly #refusals = new Map<number, Refusal>();
  /** Recovering shards whose recovery is not logged yet. */
  readonly #recovering = new Set<number>();
  readonly #inTurn = pLimit(1);
  protected readonly leaseMs: number = LEASE_MS;
  protected readonly refusedMs: number = REFUSED_MS;

  constructor(
    private readonly store: ContinuityStore,
    @Inject(ResultLog)
    private readonly resultLog: Pick<ResultLog, 'finalPositions' | 'newestContinuity'>,
    @Inject(DefinitionsTopic)
    private readonly definitions: Pick<DefinitionsTopic, 'readAll' | 'unreadable'>,
    private readonly log: Logger,
  ) {}

  /** Remembers a sign of a loss; ignores other errors. */
  suspect(error: unknown): void {
    if (error instanceof ReplacedServerError) this.#refused(error);
    if (error instanceof StoreChangedError)
      this.#suspectSince(error.shard, timeOf(error.continuity));
  }

  /**
   * The token of each shard, after a resync if one is due. Calls run in sequence, because
   * partitions start at the same time.
   */
  continuity(): Promise<string[]> {
    return this.#inTurn(() => this.#resyncUntilContinued());
  }

  /**
   * Checks that each shard has applied all events with published results, or is recovering them.
   * @throws StoreChangedError
   */
  async checkApplied(
    partition: number,
    published: number,
    { appliedOffsets, continuity }: ShardStates,
  ): Promise<void> {
    const behind = [...appliedOffsets.keys()].filter(
      (shard) => (appliedOffsets[shard] ?? -1) + 1 < published,
    );
    if (behind.length === 0) return;

    const targets = await this.store.recoveryTargets();
    const sufficient = targets.filter(
      (target) => target.partition === partition && target.target >= published,
    );
    for (const shard of behind) {
      const isRecovering = sufficient.some((target) => target.shard === shard);
      if (!isRecovering)
        throw new StoreChangedError(
          shard,
          continuity[shard] ?? '',
          `has lost applied events of partition ${partition}`,
        );
      this.#recovering.add(shard);
    }
  }

  /**
   * Logs once when a shard has recovered.
   * Cost: none while no shard recovers.
   */
  async logRecovered(): Promise<void> {
    if (this.#recovering.size === 0) return;

    const targets = await this.store.recoveryTargets();
    for (const shard of this.#recovering) {
      if (targets.some((target) => target.shard === shard)) continue;
      this.#recovering.delete(shard);
      this.log.info(
        `shard ${shard} has recovered: every partition has reached its recovery target`,
      );
    }
  }

  #suspectSince(shard: number, time: number): void {
    this.#suspected.set(shard, Math.max(time, this.#suspected.get(shard) ?? 0));
  }

  /**
   * Notes refusals. A replaced server that is refused for longer than `refusedMs` takes over:
   * perhaps no process uses the newer server any more. It is resynced first, so its ranks are
   * right. If both servers are in use, they take turns.
   */
  #refused(error: ReplacedServerError): void {
    const now = performance.now();
    for (const [shard, usedAt] of error.usedAt) {
      const before = this.#refusals.get(shard);
      const goesOn = before?.usedAt === usedAt && now - before.last < this.refusedMs;
      const since = goesOn ? before.since : now;
      this.#refusals.set(shard, { usedAt, since, last: now });
      if (this.#takesOver(shard, usedAt)) this.#suspectSince(shard, usedAt);
    }
  }

  #takesOver(shard: number, usedAt: number): boolean {
    const refusal = this.#refusals.get(shard);
    if (refusal?.usedAt !== usedAt) return false;
    return refusal.last - refusal.since > this.refusedMs;
  }

  /** Whether nothing was lost since the shard was last resynced. */
  #isContinued(shard: number, seen: Continuity): boolean {
    return seen.isContinued && timeOf(seen.token) > (this.#suspected.get(shard) ?? -1);
  }

  async #resyncUntilContinued(): Promise<string[]> {
    for (;;) {
      const seen = await allOf(this.store.allShards.map((shard) => this.store.continuity(shard)));
      const tokens = seen.map(({ token }) => token);
      const lost: LostShard[] = [];
      for (const [shard, continuity] of seen.entries())
        if (!this.#isContinued(shard, continuity)) lost.push({ shard, seen: continuity });
      if (lost.length === 0) return tokens;

      await this.#resync(lost, tokens.map(timeOf));
    }
  }

  /**
   * Resyncs shards together, so that all publishers are fenced only once, and renews the leases
   * meanwhile. Releases the leases also on failure, so that any process can begin at once. Skips
   * shards that another process resyncs.
   */
  async #resync(lost: readonly LostShard[], times: ContinuityTimes): Promise<void> {
    const begun = new Map<number, BegunResync>();
    const renewal = new RecurringTask(() => this.#renew(begun), this.leaseMs / 4);
    renewal.start();
    try {
      const newest = await this.resultLog.newestContinuity();
      this.#requireNewest(lost, newest);
      await allOf(lost.map((shard) => this.#begin(shard, newest, begun)));
      if (begun.size > 0) await this.#setTargets(begun, times);
      // Another process resyncs the other shards.
      if (begun.size < lost.length) await delay(RETRY_MS);
    } finally {
      await renewal.stop();
      await this.#release(begun);
    }
  }

  /**
   * Begins the resync of a shard, and adds it to `begun` unless another process resyncs it. `begun`
   * is an output parameter: the renewal needs it while it fills.
   */
  async #begin(
    { shard, seen }: LostShard,
    newest: ContinuityTimes,
    begun: Map<number, BegunResync>,
  ): Promise<void> {
    const options = { ms: this.leaseMs, after: newest[shard] ?? 0 };
    const resync = await this.store.beginResync(shard, seen, options);
    if (resync !== undefined) begun.set(shard, resync);
  }

  /** Renews the leases. Ignores failures: if Redis is down, endResync fails too. */
  async #renew(begun: ReadonlyMap<number, BegunResync>): Promise<void> {
    await Promise.allSettled([...begun.values()].map((resync) => this.store.renew(resync)));
  }

  /** Releases the leases. Ignores failures: the leases expire. */
  async #release(begun: ReadonlyMap<number, BegunResync>): Promise<void> {
    await Promise.allSettled([...begun.values()].map((resync) => this.store.release(resync)));
  }

  /**
   * Checks that the shards are on the newest servers. Skips a shard whose token is known to be from
   * another server than its present one, and a server that takes over.
   * @throws ReplacedServerError
   */
  #requireNewest(lost: readonly LostShard[], newest: ContinuityTimes): void {
    const used = new Map<number, number>();
    for (const { shard, seen } of lost) {
      const time = timeOf(seen.token);
      const isOther = !seen.isContinued && EMPTY_OR_OF_A_SERVER.test(seen.token);
      if (!isOther && !this.#takesOver(shard, time)) used.set(shard, time);
    }
    requireNewest(used, newest);
  }

  async #setTargets(
    begun: ReadonlyMap<number, BegunResync>,
    timesBefore: ContinuityTimes,
  ): Promise<void> {
    const times = timesBefore.map((time, shard) => {
      const resync = begun.get(shard);
      return resync === undefined ? time : timeOf(resync.token);
    });
    const positions = await this.resultLog.finalPositions(times);
    const newest = await this.resultLog.newestContinuity();
    // Another server was resynced meanwhile: begin again with a later time, to be newer.
    const isOvertaken = (shard: number) => (newest[shard] ?? 0) > (times[shard] ?? 0);
    if ([...begun.keys()].some(isOvertaken)) return;

    const readable = await this.definitions.readAll();
    // Includes unreadable definitions: a shard that lacks their promotion must be emptied, too.
    const current = new Map<string, Promoted>([...readable, ...this.definitions.unreadable]);
    const ended = await allOf(
      [...begun].map(async ([shard, resync]) => {
        const recovered = await this.store.endResync(shard, resync, positions, current);
        if (recovered !== undefined) this.#forgetSigns(shard);
        return { shard, recovered };
      }),
    );
    this.#logResyncs(ended, await this.store.recoveryTargets());
  }

  /**
   * Forgets the signs of a loss, even if the new token looks older: the previous server's clock may
   * have been ahead.
   */
  #forgetSigns(shard: number): void {
    this.#suspected.delete(shard);
    this.#refusals.delete(shard);
  }

  #logResyncs(
    ended: readonly { readonly shard: number; readonly recovered: Recovered | undefined }[],
    targets: readonly RecoveryTarget[],
  ): void {
    const complete: number[] = [];
    for (const { shard, recovered } of ended) {
      if (recovered === undefined) {
        this.log.warn(changedText(shard));
        continue;
      }

      const isOutdated = recovered.outdated.length > 0;
      const missing = targets.filter((target) => target.shard === shard);
      if (isOutdated)
        this.log.warn(
          `shard ${shard} is from before the last change of ${boardsText(recovered.outdated)}: ` +
            'all that it holds is discarded, and built again from the log by the live definitions',
        );
      if (missing.length > 0) {
        this.#recovering.add(shard);
        this.log.warn(
          `shard ${shard} has lost events whose results are published; applying them again ` +
            `before any new event: ${recoveryTargetsText(missing)}`,
        );
      }
      if (!isOutdated && missing.length === 0) complete.push(shard);
    }
    if (complete.length === 0) return;

    complete.sort((a, b) => a - b);
    this.log.info(`compared shard ${complete.join(', ')} with Kafka: nothing is missing`);
  }
}

/** How many boards a log line names. */
const MOST_NAMED = 20;

function boardsText(boards: readonly string[]): string {
  const named = `board ${boards.slice(0, MOST_NAMED).join(', ')}`;
  const others = boards.length - MOST_NAMED;
  return others > 0 ? `${named} and ${others} more` : named;
}

function changedText(shard: number): string {
  return (
    `shard ${shard} has changed while it was compared with Kafka: Redis lost events again, its ` +
    'boards changed, or this process paused and another one took over; checking whether it must ' +
    'be compared again'
  );
}
