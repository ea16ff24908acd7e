import { expect } from '@jest/globals';
import type { Redis } from 'ioredis';
import { BoardReader, type Boards, type KeySpace } from '#board-store';
import { BoardRun } from './board-run.js';
import type { GenerationsModel } from './generations-model.js';
import { NO_BOARDS, type LiveRun } from './live-run.js';
import { RegistryRun } from './registry-run.js';
import { Sandbox } from './sandbox.js';
import type { Scenario, Step } from './scenario.js';
import type { StoreStep } from './steps.js';
import { compareGeneration, compareKeys } from './store-comparison.js';
import { restoreKeys, saveKeys, type SavedKeys } from './store-keys.js';
import { StoreModel } from './store-model.js';

/**
 * Compares live ingest and concurrent reconciliations with the model. Each generation has an
 * oracle, which gets the same events as the store. In the end, all records are applied and
 * published, Redis has no unexpected key, and each board whose content does not depend on how the
 * partitions interleave equals a build of the whole log by its live definition.
 */
export class ModelRun {
  readonly #sandbox: Sandbox;
  readonly #registry: RegistryRun;
  readonly #boards: BoardRun;
  readonly #reader: BoardReader;
  /** The version of each view at its last read, by `board view`. */
  #read = new Map<string, number>();
  #saved: { keys: SavedKeys; model: StoreModel; boards: Boards } | undefined;
  /** Whether the store has lost no data since the start. */
  #isUnbroken = true;

  constructor(
    private readonly redis: Redis,
    private readonly keys: KeySpace,
    private readonly scenario: Scenario,
  ) {
    this.#sandbox = new Sandbox(redis, keys, scenario);
    this.#registry = new RegistryRun(this.#sandbox);
    this.#boards = new BoardRun(this.#sandbox, this.#registry, (step) => this.#step(step));
    this.#reader = new BoardReader({ redis, prefix: keys.prefix });
  }

  async run(): Promise<void> {
    await this.#live.store.claim();
    await this.#registry.register();
    await this.#live.endResync(this.#sandbox.kafka.current);
    for (const step of this.scenario.steps) await this.#step(step);
    await this.#finish();
  }

  async #step(step: Step): Promise<void> {
    if (step.kind === 'apply') await this.#live.apply(step);
    else if ('board' in step) await this.#boards.step(step);
    else await this.#storeStep(step);
    await this.#compare();
  }

  async #finish(): Promise<void> {
    await this.#live.applyAll();
    await this.#compare();
    for (const board of this.#model.live.keys()) await this.#boards.finish(board);
    await this.#live.sweep();
    for (const board of this.#model.leases.keys())
      await this.redis.del(this.keys.lease(this.#sandbox.shardOf(board), board));
    this.#model.leases.clear();
    await this.#boards.clean();
    await this.#compare();
    for (const board of this.#model.live.keys()) this.#compareSubscriber(board);
    await compareKeys(this.redis, this.#sandbox, this.#live.model);
    await restoreKeys(this.redis, this.keys, new Map());
  }

  get #live(): LiveRun {
    return this.#sandbox.live;
  }

  get #model(): GenerationsModel {
    return this.#sandbox.model;
  }

  async #storeStep(step: StoreStep): Promise<void> {
    switch (step.kind) {
      case 'sweep':
        return this.#live.sweep();
      case 'clean':
        return this.#boards.clean();
      case 'record': {
        this.#sandbox.kafka.recordMissing(this.#model);
        return;
      }
      case 'save':
        return this.#save();
      case 'lose':
        return this.#lose(step.first);
      case 'restore':
        return this.#restore();
    }
  }

  async #save(): Promise<void> {
    const keys = await saveKeys(this.redis, this.keys);
    this.#saved = { keys, model: this.#live.model.copy(), boards: this.#live.boards };
  }

  async #lose(first: boolean): Promise<void> {
    const { current } = this.#sandbox.kafka;
    await restoreKeys(this.redis, this.keys, new Map());
    this.#forget(new StoreModel(), NO_BOARDS);
    // Its outbox would have older versions than verdicts published until it is restored
    this.#saved = undefined;
    await this.#live.store.claim();
    if (first) await this.#live.endResync(current);
    await this.#registry.register();
    if (!first) await this.#live.endResync(current);
  }

  async #restore(): Promise<void> {
    if (this.#saved === undefined) return;
    const { keys, model, boards } = this.#saved;
    const { kafka } = this.#sandbox;
    await restoreKeys(this.redis, this.keys, keys);
    await this.#live.compareRollBacks(model, boards);
    this.#forget(model.copy(), boards);
    await this.#live.endResync(kafka.current, (shard) => this.#resetOutdated(shard));
    this.#live.forget(this.#live.model);
    const isMissing = kafka
      .wanted()
      .some(({ board }) => !this.#model.live.has(board) && !this.#model.removed.has(board));
    if (isMissing || !(await this.#live.store.areRegistered())) await this.#registry.register();
    await this.#registry.refresh();
  }

  #forget(model: StoreModel, boards: Boards): void {
    this.#noteUnpromised();
    this.#isUnbroken = false;
    for (const board of this.#sandbox.boards) this.#sandbox.endChains(board);
    this.#read = new Map();
    this.#live.forget(model);
    this.#live.boards = boards;
  }

  /**
   * Resets the model of a shard that lacks a promotion or removal recorded in Kafka, as the store
   * empties the shard. Returns the boards whose promotion or removal is lost.
   */
  #resetOutdated(shard: number): string[] {
    const isHere = (board: string) => this.#sandbox.shardOf(board) === shard;
    const lost = this.#sandbox.kafka.lostPromotions(this.#model).filter(isHere);
    if (lost.length === 0) return [];
    for (const board of this.#sandbox.boards.filter(isHere)) {
      this.#model.drop(board);
      this.#model.promotions.delete(board);
      this.#live.model.deleteReports(board);
      this.#registry.changed.add(board);
    }
    this.#live.model.reset(shard);
    return lost;
  }

  /** Checks after each step that every generation equals its oracle byte for byte. */
  async #compare(): Promise<void> {
    const { redis, keys } = this;
    const generations = [...this.#model.all.values()].map((live) => {
      const place = { keys, shard: this.#sandbox.shardOf(live.board), live };
      const isLive = this.#model.live.get(live.board) === live.generation;
      const ranked = this.#model.ranked(live);
      return compareGeneration(redis, place, live.oracle, { ranked, isLive });
    });
    const boards = [...this.#model.live.keys()].map(async (board) => {
      const reported = await redis.hkeys(keys.leaders(this.#sandbox.shardOf(board), board));
      expect(reported.sort()).toEqual(this.#live.model.reportedViews(board));
      await this.#compareVersions(board);
    });
    await Promise.all([...generations, ...boards]);
  }

  /** Checks for one view of a board that the version that reads return never decreases. */
  async #compareVersions(board: string): Promise<void> {
    const live = this.#model.liveGeneration(board);
    for (const view of live?.oracle.views(board).slice(0, 1) ?? []) {
      const { version } = await this.#reader.standings(board, { view, limit: 1 });
      expect(version).toBeGreaterThanOrEqual(this.#read.get(`${board} ${view}`) ?? 0);
      this.#read.set(`${board} ${view}`, version);
    }
  }

  /**
   * Checks that a subscriber can compute each published view, unless its board is `changed` or a
   * player is in two partitions.
   */
  #compareSubscriber(board: string): void {
    this.#noteUnpromised();
    if (!this.scenario.keyed || this.#registry.changed.has(board)) return;
    const { definition, oracle } = this.#model.liveGeneration(board)!;
    const { publish } = definition;
    for (const view of oracle.views(board)) {
      if (!oracle.memory(board).views.get(view)!.published) continue;
      const name = `${board} ${view}`;
      const top = this.#sandbox.subscriber.leaders(name, { unbroken: this.#isUnbroken });
      if (publish.leaders > 0) expect(top).toEqual(oracle.leaders(board, view));
      if (publish.rankChanges !== 'every') continue;
      const standings = oracle.standings(board, view);
      expect(this.#sandbox.subscriber.columns(name)).toEqual(
        Object.fromEntries(standings.map(({ playerId, columns }) => [playerId, columns])),
      );
    }
  }

  /**
   * Notes boards that depend on the interleaving of partitions: they may differ from the results
   * published before.
   */
  #noteUnpromised(): void {
    for (const live of this.#model.all.values())
      if (!this.#model.isPromised(live, this.scenario.keyed))
        this.#registry.changed.add(live.board);
  }
}
