import { expect } from '@jest/globals';
import type { Redis } from 'ioredis';
import {
  GenerationStore,
  LeaseHeldError,
  LeaseLostError,
  LeaseStore,
  NoPreviousGenerationError,
  type CatchUpOutcome,
  type ComparisonCursor,
  type ComparisonStep,
  type Promotion,
  type KeySpace,
  type Lease,
  type NewShadow,
  type Shadow,
  type Starts,
  type Stretch,
  type AppliedOffset,
} from '#board-store';
import { dumpKeys } from '../board-store/test-redis.js';
import { NO_GENERATION, type GenerationsModel } from './generations-model.js';
import type { LiveRun } from './live-run.js';
import type { ReconcileLog } from './reconcile-log.js';
import type { FeedStep } from './reconcile-scenario.js';

/** What builders and live ingest share. */
export interface Sandbox {
  readonly redis: Redis;
  readonly keys: KeySpace;
  readonly shards: number;
  readonly log: ReconcileLog;
  readonly live: LiveRun<GenerationsModel>;
}

const GRACE_MS = 600_000;

/** How much of the log a call brings: so many records of each partition, or all that there are. */
type Amount = Partial<Pick<FeedStep, 'sizes' | 'back'>>;

/** Whether a call came to its ending. */
type Reached<E> = { hasEnded: true; ending: E } | { hasEnded: false; ending?: never };

/**
 * A process that reconciles a board, beside the model: it knows what Redis told it when it took the lease, and compares
 * every answer.
 *
 * States: without a lease; with one; fenced, when the lease is another's and it does not know yet. Then nothing that it
 * calls has an effect, and it is without a lease again.
 */
export class Builder {
  readonly #leases: LeaseStore;
  #generations: GenerationStore;
  #lease: Lease | undefined;
  #shadow: Shadow | undefined;

  constructor(
    private readonly sandbox: Sandbox,
    readonly board: string,
  ) {
    const { redis, keys, shards } = sandbox;
    this.#leases = new LeaseStore(redis, keys, { shards });
    this.#generations = new GenerationStore(redis, keys, { shards });
  }

  get shadow(): Shadow | undefined {
    return this.#shadow;
  }

  /** Takes the lease when it has none. Answers whether it can work: one who is fenced finds out, and can't. */
  async prepare(): Promise<boolean> {
    if (this.#lease === undefined) await this.#acquire();
    if (this.#lease?.token === this.#model.leases.get(this.board)) return true;
    for (const call of this.#calls().keys()) await this.expectFenced(call);
    this.kill();
    return false;
  }

  /** The process is gone; its lease stays until it runs out. */
  kill(): void {
    const { redis, keys, shards } = this.sandbox;
    this.#generations = new GenerationStore(redis, keys, { shards });
    this.#lease = undefined;
    this.#shadow = undefined;
  }

  async release(): Promise<void> {
    const { board } = this;
    if (this.#lease?.token === this.#model.leases.get(board)) this.#model.leases.delete(board);
    if (this.#lease !== undefined) await this.#leases.release(this.#lease);
    this.kill();
  }

  async begin(wanted: NewShadow): Promise<void> {
    const shadow = await this.#generations.begin(this.#held(), wanted);
    const { board } = this;
    const { definition, starts, ends } = wanted;
    this.#model.discardShadow(board);
    const { generation } = shadow;
    expect(this.#model.generations.has(generation)).toBe(false);
    const parts = { ...(starts && { starts }), ...(ends && { ends }) };
    this.#model.add({ generation, board, definition, ...parts, isBegun: true });
    this.#model.shadows.set(board, { generation, purpose: wanted.purpose });
    this.#shadow = shadow;
    await this.#compareShadow(shadow);
  }

  async beginRollback(): Promise<void> {
    const { board } = this;
    const known = this.#model.shadows.get(board);
    const previous = this.#model.previous.get(board);
    const back = () => this.#generations.beginRollback(this.#held());
    if (known?.purpose !== 'rollback') {
      if (previous === undefined) {
        await expect(back()).rejects.toThrow(NoPreviousGenerationError);
        return;
      }
      this.#model.discardShadow(board);
      this.#model.previous.delete(board);
      this.#model.shadows.set(board, { ...previous, purpose: 'rollback' });
    }
    this.#shadow = await back();
    await this.#compareShadow(this.#shadow);
  }

  async discard(): Promise<void> {
    if (this.#shadow === undefined) return;
    await this.#generations.discard(this.#held(), this.#shadow);
    if (this.#isAtWork(this.#shadow)) this.#model.discardShadow(this.board);
    this.#shadow = undefined;
  }

  async keep(): Promise<void> {
    if (this.#shadow === undefined || !this.#isAtWork(this.#shadow)) return;
    const { generation, purpose } = this.#shadow;
    if (purpose !== 'snapshot') return;
    const shadow = this.#shadow;
    await this.#generations.keepAsSnapshot(this.#held(), shadow);
    this.#model.shadows.delete(this.board);
    this.#model.snapshots.add(generation);
    this.#shadow = undefined;
  }

  /** Answers when, in us; 0 when there was no such board. */
  async remove(): Promise<number> {
    const { board } = this;
    const isThere = this.#model.live.has(board);
    const since = await this.#generations.remove(this.#held());
    expect(since > 0).toBe(isThere);
    if (!isThere) return since;
    expect(since).toBeGreaterThan(this.#model.promotions.get(board) ?? 0);
    this.#model.drop(board);
    this.#model.promotions.set(board, since);
    this.#model.removed.add(board);
    this.sandbox.live.model.deleteReports(board);
    this.#shadow = undefined;
    return since;
  }

  /** Brings some of the log, or leaves a hole: then nothing happens. */
  async feed({ hole, ...amount }: FeedStep): Promise<void> {
    const shadow = this.#shadow;
    if (shadow === undefined) return;
    const stretches = this.#stretches(shadow, amount);
    if (hole && this.#isAtWork(shadow)) return this.#expectHole(shadow, stretches);
    const outcome = await this.#generations.catchUp(this.#held(), shadow, stretches);
    if (await this.#hasLost(shadow, outcome)) return;
    const partitions = stretches.map(({ partition }) => partition);
    expect(outcome).toEqual({
      status: 'applied',
      appliedOffsets: this.#bring(shadow, stretches, partitions),
    });
  }

  /** Makes the shadow live if it comes to the live applied offsets. Answers whether it did. */
  async promote({
    sizes,
    kept,
  }: {
    sizes?: readonly number[] | undefined;
    kept: boolean;
  }): Promise<boolean> {
    const shadow = this.#shadow;
    if (shadow === undefined || !(shadow.purpose === 'build' || shadow.purpose === 'rollback'))
      return false;
    const grace = { graceMs: kept ? GRACE_MS : 0 };
    const call = (stretches: readonly Stretch[]) =>
      this.#generations.promote(this.#held(), shadow, stretches, grace);
    const { hasEnded, ending } = await this.#reach(
      shadow,
      sizes === undefined ? {} : { sizes },
      call,
    );
    if (!hasEnded) return false;
    await this.#comparePromotion(shadow, ending, kept);
    const before = await this.#dump();
    expect(await call([])).toMatchObject({ ending: { since: ending.since } });
    expect(await this.#dump()).toEqual(before);
    this.#shadow = undefined;
    return true;
  }

  /** A call with an ending, which comes to it when the shadow is at the live applied offsets. */
  async #reach<E>(
    shadow: Shadow,
    amount: Amount,
    call: (stretches: readonly Stretch[]) => Promise<CatchUpOutcome<E>>,
  ): Promise<Reached<E>> {
    const stretches = this.#stretches(shadow, amount);
    const outcome = await call(stretches);
    if (await this.#hasLost(shadow, outcome)) return { hasEnded: false };
    const partitions = await this.#livePartitions();
    const appliedOffsets = this.#bring(shadow, stretches, partitions);
    if (outcome.status !== 'applied') throw new Error(`the store answered ${outcome.status}`);
    expect(outcome.appliedOffsets).toEqual(appliedOffsets);
    expect(outcome.ending !== undefined).toBe(
      [...appliedOffsets.values()].every(({ shadow, live }) => shadow >= live),
    );
    return outcome.ending === undefined
      ? { hasEnded: false }
      : { hasEnded: true, ending: outcome.ending };
  }

  compare(shadow: Shadow, cursor?: ComparisonCursor): Promise<Reached<ComparisonStep>> {
    const call = (stretches: readonly Stretch[]) =>
      this.#generations.compare(this.#held(), shadow, stretches, cursor);
    return this.#reach(shadow, {}, call);
  }

  /** One of the calls of a process that has lost its lease changes nothing. */
  async expectFenced(number: number): Promise<void> {
    const before = await this.#dump();
    const calls = this.#calls();
    const outcome = await calls[number % calls.length]!().catch((error: unknown) => error);
    if (!(outcome instanceof LeaseLostError)) {
      const isLive = this.#shadow?.generation === this.#model.live.get(this.board);
      const { status } = outcome as CatchUpOutcome<unknown>;
      // A promotion that was done before is answered again, whoever asks.
      expect(['leaseLost', 'generationChanged', ...(isLive ? ['applied'] : [])]).toContain(status);
    }
    expect(await this.#dump()).toEqual(before);
  }

  get #model(): GenerationsModel {
    return this.sandbox.live.model.oracle;
  }

  #held(): Lease {
    if (this.#lease === undefined) throw new Error(`there is no lease of ${this.board}`);
    return this.#lease;
  }

  /** The lease of one who is gone has to run out first. */
  async #acquire(): Promise<void> {
    const { board } = this;
    const { redis, keys, live } = this.sandbox;
    const key = keys.lease(live.store.shardOf(board), board);
    if (this.#model.leases.has(board)) {
      await expect(this.#leases.acquire(board, 'too early')).rejects.toThrow(LeaseHeldError);
      await redis.del(key);
    }
    this.#lease = await this.#leases.acquire(board, 'builder');
    await redis.persist(key); // a slow machine is not what is tested
    this.#model.leases.set(board, this.#lease.token);
    await this.lookForShadow();
  }

  /** Goes on with what Redis has: all that a new process knows. */
  async lookForShadow(): Promise<void> {
    this.#shadow = await this.#generations.shadow(this.board);
    const known = this.#model.shadows.get(this.board);
    expect(this.#shadow?.generation).toBe(known?.generation);
    if (this.#shadow !== undefined) await this.#compareShadow(this.#shadow);
  }

  async #compareShadow(shadow: Shadow): Promise<void> {
    const known = this.#model.shadows.get(this.board)!;
    const { board, generation, definition, starts, ends, appliedOffsets } = this.#model.generation(
      known.generation,
    );
    const { purpose } = known;
    expect(shadow).toEqual({ board, generation, definition, purpose, starts, ends });
    const found = await this.#generations.shadowAppliedOffsets(shadow);
    expect(counting(found)).toEqual(counting(appliedOffsets));
  }

  #isAtWork({ generation }: Shadow): boolean {
    return this.#model.shadows.get(this.board)?.generation === generation;
  }

  /** Redis was put back to when there was another shadow, or none. */
  async #hasLost(shadow: Shadow, { status }: CatchUpOutcome<unknown>): Promise<boolean> {
    expect(status === 'shadowGone').toBe(!this.#isAtWork(shadow));
    if (status !== 'shadowGone') return false;
    await this.lookForShadow();
    return true;
  }

  async #expectHole(shadow: Shadow, stretches: readonly Stretch[]): Promise<void> {
    const before = await this.#dump();
    const holed = stretches.map((stretch, index) =>
      index === 0
        ? { ...stretch, from: this.#appliedOffset(shadow, stretch.partition) + 2 }
        : stretch,
    );
    expect(await this.#generations.catchUp(this.#held(), shadow, holed)).toEqual({
      status: 'gap',
    });
    expect(await this.#dump()).toEqual(before);
  }

  async #comparePromotion(
    shadow: Shadow,
    { since, previous }: Promotion,
    isKept: boolean,
  ): Promise<void> {
    const { board } = this;
    const { generation } = shadow;
    const model = this.#model;
    const live = model.live.get(board) ?? NO_GENERATION;
    expect(previous).toBe(live === NO_GENERATION ? undefined : live);
    expect(since).toBeGreaterThan(model.promotions.get(board) ?? 0);
    model.shadows.delete(board);
    if (live !== NO_GENERATION) {
      model.dropPrevious(board);
      model.previous.set(board, { generation: live, isKept });
      const { appliedOffsets } = model.generation(live);
      appliedOffsets.clear();
      for (const partition of await this.#livePartitions())
        appliedOffsets.set(partition, this.#liveAppliedOffset(partition));
    }
    model.live.set(board, generation);
    model.promotions.set(board, since);
    model.promoted.add(generation);
    model.removed.delete(board);
    if (shadow.definition.publish.leaders === 0) this.sandbox.live.model.deleteReports(board);
  }

  /** What the model makes of stretches that were applied; answers the applied offsets of these partitions. */
  #bring(
    shadow: Shadow,
    stretches: readonly Stretch[],
    partitions: readonly number[],
  ): Map<number, AppliedOffset> {
    const { oracle, appliedOffsets } = this.#model.generation(shadow.generation);
    for (const { partition, through, entries } of stretches) {
      const appliedOffset = this.#appliedOffset(shadow, partition);
      const to = Math.min(through, this.#liveAppliedOffset(partition));
      if (to <= appliedOffset) continue;
      for (const { offset, event } of entries)
        if (offset > appliedOffset && offset <= to) oracle.apply(this.board, event, partition);
      appliedOffsets.set(partition, to);
    }
    return new Map(
      partitions.map((partition) => [
        partition,
        {
          shadow: this.#appliedOffset(shadow, partition),
          live: this.#liveAppliedOffset(partition),
        },
      ]),
    );
  }

  #stretches(shadow: Shadow, amount: Amount): Stretch[] {
    return Array.from({ length: this.sandbox.log.partitions }, (_, partition) =>
      this.#stretch(shadow, partition, amount),
    );
  }

  #stretch(shadow: Shadow, partition: number, { sizes, back = 0 }: Amount): Stretch {
    const { log } = this.sandbox;
    const offsets = log.offsets(partition);
    const appliedOffset = this.#appliedOffset(shadow, partition);
    const done = offsets.filter((offset) => offset <= appliedOffset).length;
    const repeated = offsets[Math.max(0, done - back)] ?? 0;
    const from = back === 0 ? appliedOffset + 1 : Math.min(appliedOffset + 1, repeated);
    const last = Math.min(
      offsets.length,
      sizes === undefined ? Infinity : done + sizes[partition]!,
    );
    const end = shadow.ends?.get(partition) ?? Infinity;
    const through = Math.max(from - 1, Math.min(offsets[last - 1] ?? -1, end - 1));
    const entries = log
      .events(shadow, partition)
      .filter(({ offset }) => offset >= from && offset <= through);
    return { partition, from, through, entries };
  }

  #appliedOffset({ generation }: Shadow, partition: number): number {
    return this.#model.generations.get(generation)?.appliedOffsets.get(partition) ?? -1;
  }

  #liveAppliedOffset(partition: number): number {
    const { live } = this.sandbox;
    return live.model.partition(live.store.shardOf(this.board), partition).appliedOffset;
  }

  /** Partitions that live ingest has seen in the board's shard. */
  async #livePartitions(): Promise<number[]> {
    const found = await this.#generations.liveAppliedOffsets(this.board);
    for (const [partition, appliedOffset] of found)
      expect(appliedOffset).toBe(this.#liveAppliedOffset(partition));
    return [...found.keys()];
  }

  /** All that the holder of a lease may call. */
  #calls(): (() => Promise<unknown>)[] {
    const shadow = this.#shadow;
    const [lease, generations] = [this.#held(), this.#generations];
    const calls = [
      () => this.#leases.renew(lease),
      () => generations.beginRollback(lease),
      () => generations.remove(lease),
    ];
    if (shadow === undefined) return calls;
    const { definition } = shadow;
    const stretches = this.#stretches(shadow, {});
    return [
      ...calls,
      () => generations.catchUp(lease, shadow, stretches),
      () => generations.promote(lease, shadow, stretches, { graceMs: 0 }),
      () => generations.compare(lease, shadow, stretches),
      () => generations.begin(lease, { definition, purpose: 'build' }),
      () => generations.discard(lease, shadow),
      () => generations.keepAsSnapshot(lease, shadow),
    ];
  }

  #dump(): Promise<Record<string, string>> {
    return dumpKeys(this.sandbox.redis, this.sandbox.keys);
  }
}

function counting(appliedOffsets: ReadonlyMap<number, number>): Starts {
  return new Map([...appliedOffsets].filter(([, offset]) => offset >= 0).sort(([a], [b]) => a - b));
}
