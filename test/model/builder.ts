import { expect } from '@jest/globals';
import {
  GenerationStore,
  LeaseHeldError,
  LeaseLostError,
  LeaseStore,
  NoPreviousGenerationError,
  UNRANKED,
  UNSETTLED,
  type CatchUpOutcome,
  type ComparisonCursor,
  type ComparisonStep,
  type Lease,
  type NewShadow,
  type Promotion,
  type RankingCursor,
  type Shadow,
  type Stretch,
} from '#board-store';
import { takeOverRecords } from '../../src/reconciliation/runs/player-records.js';
import { endingOf } from '../board-store/generation-fixture.js';
import { dumpKeys } from '../board-store/test-redis.js';
import { NO_GENERATION, type GenerationsModel } from './generations-model.js';
import type { Sandbox } from './sandbox.js';
import type { BoardStepOf } from './steps.js';
import { Stretches, type Amount } from './stretches.js';

const GRACE_MS = 600_000;

/**
 * A process that reconciles a board. It keeps the lease and the shadow that Redis returned, and
 * compares every answer with the model.
 *
 * States: without a lease; with a lease; fenced. A fenced process has lost the lease to another
 * one, and its calls have no effect.
 */
export class Builder {
  readonly #leases: LeaseStore;
  readonly #generations: GenerationStore;
  readonly #stretches: Stretches;
  #lease: Lease | undefined;
  #shadow: Shadow | undefined;

  constructor(
    private readonly sandbox: Sandbox,
    readonly board: string,
  ) {
    const { redis, keys, shards } = sandbox;
    this.#leases = new LeaseStore(redis, keys, { shards });
    this.#generations = new GenerationStore(redis, keys, { shards });
    this.#stretches = new Stretches(sandbox);
  }

  get shadow(): Shadow | undefined {
    return this.#shadow;
  }

  /**
   * Takes the lease if this process has none. Returns whether the process can work: a fenced one
   * can't.
   */
  async prepare(): Promise<boolean> {
    if (this.#lease === undefined) await this.#acquire();
    if (this.#lease?.token === this.#model.leases.get(this.board)) return true;
    await this.expectFenced();
    return false;
  }

  async begin(wanted: NewShadow): Promise<void> {
    const { board } = this;
    const { definition, starts, purpose } = wanted;
    this.#shadow = await this.#generations.begin(this.#held(), wanted);
    const { generation } = this.#shadow;
    this.#model.discardShadow(board);
    expect(this.#model.all.has(generation)).toBe(false);
    this.#model.add({ generation, board, definition, ...(starts && { starts }), isBegun: true });
    const ranked = purpose === 'snapshot' ? 'all' : 'none';
    this.#model.shadows.set(board, { generation, purpose, ranked });
    await this.#compareShadow(this.#shadow);
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
      this.#model.shadows.set(board, { ...previous, purpose: 'rollback', ranked: 'all' });
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

  /** Removes the board, and releases the lease. */
  async remove(): Promise<void> {
    const { board } = this;
    const lease = this.#held();
    const since = await this.#generations.remove(lease);
    expect(since).toBeGreaterThan(this.#model.promotions.get(board) ?? 0);
    this.#model.drop(board);
    this.#model.promotions.set(board, since);
    this.#model.removed.add(board);
    this.sandbox.live.model.deleteReports(board);
    await this.#leases.release(lease);
    this.#model.leases.delete(board);
  }

  /** Applies some of the log to the shadow. */
  async feed(amount: Amount): Promise<void> {
    const shadow = this.#shadow;
    if (shadow === undefined) return;
    const stretches = this.#stretches.next(shadow, amount);
    const outcome = await this.#generations.catchUp(this.#held(), shadow, stretches);
    if (await this.#hasLost(shadow, outcome)) return;
    const partitions = stretches.map(({ partition }) => partition);
    const appliedOffsets = this.#stretches.apply(shadow, stretches, partitions);
    expect(outcome).toEqual({ status: 'applied', appliedOffsets });
  }

  /** Takes so many steps of ranking a build. */
  async rank(steps: number): Promise<void> {
    const shadow = this.#shadow;
    if (shadow?.purpose !== 'build') return;
    const { generation, purpose } = shadow;
    await this.takeOver(shadow);
    let cursor: RankingCursor | undefined;
    let isDone = false;
    for (let step = 0; step < steps && !isDone; step++) {
      const { next } = await this.#generations.rank(this.#held(), shadow, cursor);
      cursor = next;
      isDone = next === undefined;
    }
    if (!this.#isAtWork(shadow)) return;
    this.#model.shadows.set(this.board, { generation, purpose, ranked: isDone ? 'all' : 'some' });
    if (isDone) this.#model.generation(generation).oracle.forgetErased(this.board);
  }

  /** Takes over player records of the live generation. */
  async takeOver(shadow: Shadow): Promise<Record<string, number>> {
    const { store } = this.sandbox.live;
    const taken = takeOverRecords({ store, generations: this.#generations }, this.#held(), shadow);
    if (!this.#isAtWork(shadow)) {
      await taken.catch((error: unknown) => expect(error).toBeInstanceOf(LeaseLostError));
      return {};
    }
    const offsets = await taken;
    this.#model.takeOver(this.board, this.#model.generation(shadow.generation));
    return offsets;
  }

  /** Settles the player records of a ranked shadow, as settleRecords does. */
  async #settle(shadow: Shadow): Promise<void> {
    const { store } = this.sandbox.live;
    const { board, definition } = shadow;
    for (const { partition, ...record } of await this.#generations.unsettled(shadow)) {
      const views = await store.viewsOfPlayers(shadow, [record.playerId]);
      const [one, ...others] = views.get(record.playerId)!;
      for (const some of [one === undefined ? [] : [one], others]) {
        const entry = { kind: 'player' as const, board, ...record, views: some };
        const joined = { partition, entries: [entry], isLast: some === others };
        await this.#generations.joinRecords(this.#held(), shadow, joined);
      }
    }
    this.#model.generation(shadow.generation).oracle.settleAll(definition.board);
  }

  /**
   * Promotes the shadow if the call brings it to the live applied offsets. Returns whether it was
   * promoted.
   */
  async promote({ sizes, kept }: Pick<BoardStepOf<'promote'>, 'sizes' | 'kept'>): Promise<boolean> {
    const shadow = this.#shadow;
    if (shadow === undefined || !(shadow.purpose === 'build' || shadow.purpose === 'rollback'))
      return false;
    const takenOver = shadow.purpose === 'build' ? await this.takeOver(shadow) : {};
    const options = { graceMs: kept ? GRACE_MS : 0, takenOver };
    const call = (stretches: readonly Stretch[]) =>
      this.#generations.promote(this.#held(), shadow, stretches, options);
    let ending = await this.#reach(shadow, { ...(sizes && { sizes }) }, call);
    if (ending === undefined) return false;
    const { oracle } = this.#model.generation(shadow.generation);
    expect(ending === UNRANKED).toBe(this.#model.shadows.get(this.board)!.ranked !== 'all');
    if (ending === UNRANKED) {
      await this.rank(Infinity);
      ending = endingOf(await call([]));
    }
    expect(ending === UNSETTLED).toBe(oracle.memory(this.board).unsettled.size > 0);
    if (ending === UNSETTLED) {
      await this.#settle(shadow);
      ending = endingOf(await call([]));
    }
    if (typeof ending === 'string') throw new Error(`the shadow is ${ending}`);
    await this.#comparePromotion(shadow, ending, kept);
    const before = await this.#dump();
    expect(await call([])).toMatchObject({ ending: { since: ending.since } });
    expect(await this.#dump()).toEqual(before);
    this.#shadow = undefined;
    return true;
  }

  /**
   * Makes a catch-up call. Returns the result of the call's ending (what it does once the shadow
   * has reached the live applied offsets); undefined if the shadow has not reached them.
   */
  async #reach<E>(
    shadow: Shadow,
    amount: Amount,
    call: (stretches: readonly Stretch[]) => Promise<CatchUpOutcome<E>>,
  ): Promise<E | undefined> {
    const stretches = this.#stretches.next(shadow, amount);
    let outcome = await call(stretches);
    // The store remembers the live generation; if Redis was put back since, it reads it again at
    // the second call.
    if (outcome.status === 'generationChanged') outcome = await call(stretches);
    if (await this.#hasLost(shadow, outcome)) return undefined;
    const partitions = await this.#livePartitions();
    const appliedOffsets = this.#stretches.apply(shadow, stretches, partitions);
    if (outcome.status !== 'applied') throw new Error(`the call was refused: ${outcome.status}`);
    expect(outcome.appliedOffsets).toEqual(appliedOffsets);
    expect(outcome.ending !== undefined).toBe(
      [...appliedOffsets.values()].every(({ shadow, live }) => shadow >= live),
    );
    return outcome.ending;
  }

  /**
   * Brings the shadow to the live applied offsets, and does the next step of its comparison with
   * the live generation.
   */
  async compare(shadow: Shadow, cursor?: ComparisonCursor): Promise<ComparisonStep> {
    const step = await this.#reach(shadow, {}, (stretches) =>
      this.#generations.compare(this.#held(), shadow, stretches, cursor),
    );
    if (step === undefined) throw new Error('the shadow is behind the live applied offsets');
    return step;
  }

  /** Checks that no call of a process that has lost its lease changes anything. */
  async expectFenced(): Promise<void> {
    const before = await this.#dump();
    for (const call of this.#calls()) {
      const outcome = await call().catch((error: unknown) => error);
      if (outcome instanceof LeaseLostError) continue;
      const isLive = this.#shadow?.generation === this.#model.live.get(this.board);
      const { status } = outcome as CatchUpOutcome<unknown>;
      // The store repeats its answer to a promotion that was done before, whichever process asks.
      expect(['leaseLost', 'generationChanged', ...(isLive ? ['applied'] : [])]).toContain(status);
    }
    expect(await this.#dump()).toEqual(before);
  }

  get #model(): GenerationsModel {
    return this.sandbox.model;
  }

  #held(): Lease {
    if (this.#lease === undefined) throw new Error(`there is no lease of ${this.board}`);
    return this.#lease;
  }

  /** Acquires the lease once the lease of a killed holder has expired. */
  async #acquire(): Promise<void> {
    const { board } = this;
    const { redis, keys, shardOf } = this.sandbox;
    const key = keys.lease(shardOf(board), board);
    if (this.#model.leases.has(board)) {
      await expect(this.#leases.acquire(board, 'too early')).rejects.toThrow(LeaseHeldError);
      await redis.del(key);
    }
    this.#lease = await this.#leases.acquire(board, 'builder');
    await redis.persist(key); // a slow machine must not fail the test
    this.#model.leases.set(board, this.#lease.token);
    await this.#lookForShadow();
  }

  /** Continues with the shadow that Redis has. */
  async #lookForShadow(): Promise<void> {
    this.#shadow = await this.#generations.shadow(this.board);
    expect(this.#shadow?.generation).toBe(this.#model.shadows.get(this.board)?.generation);
    if (this.#shadow !== undefined) await this.#compareShadow(this.#shadow);
  }

  async #compareShadow(shadow: Shadow): Promise<void> {
    const { generation, purpose } = this.#model.shadows.get(this.board)!;
    const { board, definition, starts, appliedOffsets } = this.#model.generation(generation);
    expect(shadow).toEqual({ board, generation, definition, purpose, starts });
    const found = await this.#generations.shadowAppliedOffsets(shadow);
    const known = (offsets: ReadonlyMap<number, number>) =>
      new Map([...offsets].filter(([, offset]) => offset >= 0));
    expect(known(found)).toEqual(known(appliedOffsets));
  }

  /** Whether this is still the shadow of the board. */
  #isAtWork({ generation }: Shadow): boolean {
    return this.#model.shadows.get(this.board)?.generation === generation;
  }

  /**
   * Whether Redis was put back to a time when it had another shadow, or none. If so, continues with
   * what it has now.
   */
  async #hasLost(shadow: Shadow, { status }: CatchUpOutcome<unknown>): Promise<boolean> {
    expect(status === 'shadowGone').toBe(!this.#isAtWork(shadow));
    if (status !== 'shadowGone') return false;
    await this.#lookForShadow();
    return true;
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
        appliedOffsets.set(partition, this.#stretches.liveAppliedOffset(board, partition));
    }
    model.live.set(board, generation);
    model.promotions.set(board, since);
    model.promoted.add(generation);
    model.removed.delete(board);
    const isLeftOpen =
      live !== NO_GENERATION && model.generation(live).oracle.memory(board).unsettled.size > 0;
    if (shadow.definition.publish.leaders === 0 || isLeftOpen)
      this.sandbox.live.model.deleteReports(board);
  }

  /** Partitions that live ingest has seen in the board's shard. */
  async #livePartitions(): Promise<number[]> {
    const found = await this.#generations.liveAppliedOffsets(this.board);
    for (const [partition, appliedOffset] of found)
      expect(appliedOffset).toBe(this.#stretches.liveAppliedOffset(this.board, partition));
    return [...found.keys()];
  }

  /** All calls that the holder of a lease can make. */
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
    const stretches = this.#stretches.next(shadow);
    return [
      ...calls,
      () => generations.catchUp(lease, shadow, stretches),
      () => generations.promote(lease, shadow, stretches, { graceMs: 0 }),
      () => generations.compare(lease, shadow, stretches),
      async () => {
        expect(await generations.rank(lease, shadow)).toEqual({ players: 0 });
        return { status: 'leaseLost' };
      },
      () => generations.begin(lease, { definition, purpose: 'build' }),
      () => generations.discard(lease, shadow),
    ];
  }

  #dump() {
    return dumpKeys(this.sandbox.redis, this.sandbox.keys);
  }
}
