import { expect } from '@jest/globals';
import type { Redis } from 'ioredis';
import { definitionText, type BoardDefinition } from '#board';
import {
  BoardReader,
  GenerationCatalog,
  type Boards,
  type ComparisonCursor,
  type Difference,
  type KeySpace,
  type Shadow,
  type Starts,
  type Verdict,
} from '#board-store';
import { Builder, type Sandbox } from './builder.js';
import { Chains } from './chains.js';
import { GenerationsModel, NO_GENERATION, type GenerationModel } from './generations-model.js';
import { KafkaDefinitions } from './kafka-definitions.js';
import { LiveRun, NO_BOARDS, type LogEntry } from './live-run.js';
import { Oracle } from './oracle.js';
import { ReconcileLog } from './reconcile-log.js';
import type {
  BeginStep,
  BoardStep,
  FeedStep,
  PromotionStep,
  ReconcileScenario,
  ReconcileStep,
  ShardStep,
  VerifyStep,
} from './reconcile-scenario.js';
import { compareGenerationKeys } from './reconcile-keys.js';
import { compareGeneration, compareReports, compareVersions } from './store-comparison.js';
import { restoreKeys, saveKeys, type SavedKeys } from './store-keys.js';
import { StoreModel } from './store-model.js';

type Model = StoreModel<GenerationsModel>;

/**
 * Live ingest with reconciliations beside it, all against the model: one oracle a generation, fed with what the store was
 * told to apply to it. After `finish` all records are applied and published, each board is what the log makes of it by the
 * live definition, and no key is left over.
 */
export class ReconcileRun {
  readonly #sandbox: Sandbox;
  readonly #catalog: GenerationCatalog;
  readonly #reader: BoardReader;
  readonly #kafka: KafkaDefinitions;
  readonly #builders = new Map<string, Builder>();
  readonly #chains = new Chains();
  /** Every generation so far, for results that are published late. */
  readonly #boardOf = new Map<string, string>();
  /** By partition and offset, what was published. */
  readonly #verdicts = new Map<string, Verdict[]>();
  /** The last version that was read of a view, by `board view`. */
  #read = new Map<string, number>();
  #saved: { keys: SavedKeys; model: Model; boards: Boards } | undefined;

  constructor(
    private readonly redis: Redis,
    private readonly keys: KeySpace,
    private readonly scenario: ReconcileScenario,
  ) {
    const { shards } = scenario;
    const log = new ReconcileLog(scenario);
    const parts = {
      redis,
      keys,
      shards,
      partitions: log.partitions,
      log: (partition: number) => log.live(partition, live.boards),
      boardOf: (partition: number, { offset }: LogEntry) => log.boardOf(partition, offset),
      published: this.#published.bind(this),
    };
    const live: LiveRun<GenerationsModel> = new LiveRun(parts, newModel());
    this.#sandbox = { redis, keys, shards, log, live };
    this.#catalog = new GenerationCatalog(redis, keys, { shards });
    this.#reader = new BoardReader(redis, keys);
    this.#kafka = new KafkaDefinitions(scenario.variants.map(([first]) => first!));
  }

  async prepare(): Promise<void> {
    await this.#live.store.claim();
    await this.#register();
    await this.#live.endResync(this.#kafka.current);
  }

  async step(step: ReconcileStep): Promise<void> {
    if (step.kind === 'apply') await this.#live.apply(step);
    else if ('board' in step) await this.#boardStep(step);
    else await this.#shardStep(step);
    await this.#compare();
  }

  async finish(): Promise<void> {
    await this.#live.applyAll();
    for (const board of this.#model.live.keys()) await this.#finishBoard(board);
    await this.#live.sweep();
    for (const board of this.#model.leases.keys())
      await this.redis.del(this.keys.lease(this.#shardOf(board), board));
    this.#model.leases.clear();
    await this.#clean();
    await this.#compare();
    this.#compareTold();
    await this.#compareKeys();
    await restoreKeys(this.redis, this.keys, new Map());
  }

  get #live(): LiveRun<GenerationsModel> {
    return this.#sandbox.live;
  }

  get #model(): GenerationsModel {
    return this.#live.model.oracle;
  }

  async #shardStep(step: ShardStep): Promise<void> {
    switch (step.kind) {
      case 'sweep':
        return this.#live.sweep();
      case 'clean':
        return this.#clean();
      case 'record':
        this.#kafka.recordMissing(this.#model);
        return;
      case 'save':
        this.#saved = {
          keys: await saveKeys(this.redis, this.keys),
          model: this.#live.model.copy(),
          boards: this.#live.boards,
        };
        return;
      case 'lose':
        return this.#lose(step.first);
      case 'rollback':
        return this.#restore();
    }
  }

  async #boardStep(step: BoardStep): Promise<void> {
    const board = this.#boardName(step.board);
    if (step.kind === 'register') return this.#readd(board, step.variant);
    if (step.kind === 'dropSnapshot') return this.#dropSnapshot(board);
    if (!this.#model.live.has(board)) return; // removed, so without a lease
    const builder = this.#builder(board);
    if (step.kind === 'kill') builder.kill();
    else if (await builder.prepare()) await this.#work(builder, step);
  }

  async #work(builder: Builder, step: BoardStep): Promise<void> {
    switch (step.kind) {
      case 'begin':
        return builder.begin(this.#wanted(builder.board, step));
      case 'feed':
        await this.#beginInstead(builder, step);
        return builder.feed(step);
      case 'promote':
        await this.#beginInstead(builder, step);
        return this.#promote(builder, step);
      case 'verify':
        return this.#verify(builder, step);
      case 'beginRollback':
        return builder.beginRollback();
      case 'discard':
        return builder.discard();
      case 'keep':
        return builder.keep();
      case 'sweepShadow':
        return this.#sweepShadow(builder);
      case 'steal':
        return this.#steal(builder, step.call);
      case 'remove':
        return this.#remove(builder, step.recorded);
    }
  }

  #builder(board: string): Builder {
    const known = this.#builders.get(board) ?? new Builder(this.#sandbox, board);
    this.#builders.set(board, known);
    return known;
  }

  async #beginInstead(
    builder: Builder,
    { kind, instead }: FeedStep | PromotionStep,
  ): Promise<void> {
    const { board, shadow } = builder;
    const isOfUse =
      kind === 'feed' || shadow?.purpose === 'build' || shadow?.purpose === 'rollback';
    if (shadow !== undefined && isOfUse) return;
    const variants = this.#variants(board);
    const definition = variants[Number(instead) % variants.length];
    if (definition !== undefined) await builder.begin({ definition, purpose: 'build' });
    else await builder.beginRollback();
  }

  #wanted(board: string, { purpose, variant, starts, ends }: BeginStep) {
    const live = this.#model.liveGeneration(board);
    const variants = this.#variants(board);
    const definition =
      purpose === 'snapshot' && live ? live.definition : variants[variant % variants.length]!;
    const begins = purpose === 'snapshot' && live ? live.starts : this.#offsets(starts);
    return {
      definition,
      purpose,
      ...(begins === undefined ? {} : { starts: begins }),
      ...(purpose === 'snapshot' ? { ends: this.#offsets(ends) } : {}),
    };
  }

  #offsets(shares: readonly number[]): Starts;
  #offsets(shares: readonly number[] | undefined): Starts | undefined;
  #offsets(shares: readonly number[] | undefined): Starts | undefined {
    const { log } = this.#sandbox;
    const offsets = shares?.map((share, partition): [number, number] => {
      return [partition, Math.floor(Math.min(1, share) * log.end(partition))];
    });
    return offsets && new Map(offsets);
  }

  async #promote(
    builder: Builder,
    { recorded, ...step }: Pick<PromotionStep, 'sizes' | 'kept' | 'recorded'>,
  ): Promise<void> {
    const { board } = builder;
    const before = this.#model.liveGeneration(board);
    const isRestored = builder.shadow?.purpose === 'rollback';
    if (!(await builder.promote(step))) return;
    const now = this.#model.liveGeneration(board)!;
    if (isRestored || before === undefined || !this.#isSameBoard(before, now))
      this.#chains.end(board);
    await this.#expectStale(board);
    await this.#refresh();
    if (recorded) this.#kafka.record(this.#model, board);
    else builder.kill();
  }

  /** Whether two generations have the same bytes at the same applied offsets. */
  #isSameBoard(one: GenerationModel, other: GenerationModel): boolean {
    const { keyed } = this.scenario;
    return (
      definitionText(one.definition) === definitionText(other.definition) &&
      JSON.stringify([...(one.starts ?? [])]) === JSON.stringify([...(other.starts ?? [])]) &&
      this.#model.isPromised(one, keyed) &&
      this.#model.isPromised(other, keyed)
    );
  }

  /** A call that names an earlier version of the pointers writes nothing. */
  async #expectStale(board: string): Promise<void> {
    const shard = this.#shardOf(board);
    const outcome = await this.#live.store.apply(this.#live.idleCall(shard, 0));
    expect(outcome).toEqual({ status: 'generationChanged' });
  }

  async #verify(builder: Builder, { between }: Pick<VerifyStep, 'between'>): Promise<void> {
    const live = this.#model.liveGeneration(builder.board);
    if (live === undefined) return;
    const { definition, starts } = live;
    await builder.begin({ definition, purpose: 'verify', ...(starts && { starts }) });
    const shadow = builder.shadow!;
    const rest = [...between];
    const meanwhile = async () => {
      const next = rest.shift();
      if (next?.kind === 'sweepShadow') await this.#sweepShadow(builder);
      else if (next !== undefined) await this.step(next);
    };
    await meanwhile();
    const differences = await this.#differences(builder, shadow, meanwhile);
    const expected = this.#model.generation(shadow.generation);
    const { keyed } = this.scenario;
    if (this.#model.isPromised(live, keyed) && this.#model.isPromised(expected, keyed))
      expect(differences).toEqual([]);
    await builder.discard();
  }

  async #differences(
    builder: Builder,
    shadow: Shadow,
    meanwhile: () => Promise<void>,
  ): Promise<Difference[]> {
    const found: Difference[] = [];
    let cursor: ComparisonCursor | undefined;
    do {
      const step = ended(await builder.compare(shadow, cursor));
      expect(step.tooManyViews).toEqual({
        expected: this.#refused(shadow.generation, builder.board),
        found: this.#refused(this.#model.live.get(builder.board)!, builder.board),
      });
      found.push(...step.differences);
      cursor = step.next;
      await meanwhile();
    } while (cursor !== undefined);
    return found;
  }

  #refused(generation: string, board: string): number {
    return this.#model.generation(generation).oracle.memory(board).refused;
  }

  async #sweepShadow({ board, shadow }: Builder): Promise<void> {
    if (shadow === undefined) return;
    const known = this.#model.shadows.get(board);
    const isAtWork = known?.generation === shadow.generation;
    const gone = isAtWork
      ? this.#model.generation(shadow.generation).oracle.sweep(board).length
      : 0;
    let removed = 0;
    for (let some = Infinity; some > 0; removed += some)
      some = await this.#live.store.sweep(shadow);
    if (isAtWork) expect(removed).toBe(gone);
  }

  /** Another process takes the lease; later calls of the first one have no effect. */
  async #steal(zombie: Builder, call: number): Promise<void> {
    const other = new Builder(this.#sandbox, zombie.board);
    this.#builders.set(zombie.board, other);
    await other.prepare();
    await zombie.expectFenced(call);
  }

  async #remove(builder: Builder, recorded: boolean): Promise<void> {
    const { board } = builder;
    await builder.remove();
    this.#chains.end(board);
    await this.#expectStale(board);
    await this.#refresh();
    if (recorded) this.#kafka.record(this.#model, board);
    await builder.release();
  }

  /** A board that was removed is in the file again. */
  async #readd(board: string, variant: number): Promise<void> {
    if (!this.#model.removed.has(board)) return;
    const variants = this.#variants(board);
    this.#kafka.add(variants[variant % variants.length]!);
    await this.#register();
  }

  async #dropSnapshot(board: string): Promise<void> {
    const generation = [...this.#model.snapshots].find(
      (one) => this.#model.generation(one).board === board,
    );
    if (generation === undefined) return;
    expect(await this.#catalog.removeSnapshot(generation)).toBe(true);
    expect(await this.#catalog.removeSnapshot('none')).toBe(false);
    this.#model.snapshots.delete(generation);
    this.#model.discard(generation);
  }

  /** Frees the generations that are not needed any more. */
  async #clean(): Promise<void> {
    while ((await this.#catalog.sweep()) > 0);
    this.#model.clean();
    for (const swept of this.#model.takeDiscarded()) this.#live.model.deleteReportsOf(...swept);
    const ids = (await this.#catalog.generations()).map(({ generation }) => generation);
    expect(ids.sort()).toEqual([...this.#model.generations.keys()].sort());
  }

  async #lose(first: boolean): Promise<void> {
    await restoreKeys(this.redis, this.keys, new Map());
    this.#forget(newModel(), NO_BOARDS);
    this.#saved = undefined; // its verdicts have versions from before those that come now
    await this.#live.store.claim();
    if (first) await this.#live.endResync(this.#kafka.current);
    await this.#register();
    if (!first) await this.#live.endResync(this.#kafka.current);
  }

  async #restore(): Promise<void> {
    if (this.#saved === undefined) return;
    const { keys, model, boards } = this.#saved;
    await restoreKeys(this.redis, this.keys, keys);
    await this.#live.compareRollBacks(model, boards);
    this.#forget(model.copy(), boards);
    await this.#live.endResync(this.#kafka.current, (shard) => this.#resetOutdated(shard));
    this.#live.forget(this.#live.model);
    const isMissing = this.#kafka
      .wanted()
      .some(({ board }) => !this.#model.live.has(board) && !this.#model.removed.has(board));
    if (isMissing || !(await this.#live.store.areRegistered())) await this.#register();
    await this.#refresh();
  }

  #forget(model: Model, boards: Boards): void {
    for (const [first] of this.scenario.variants) this.#chains.end(first!.board);
    this.#read = new Map();
    this.#live.forget(model);
    this.#live.boards = boards;
  }

  /** A shard that lacks a promotion which Kafka knows of is made again from the log. */
  #resetOutdated(shard: number): string[] {
    const isHere = (board: string) => this.#shardOf(board) === shard;
    const lost = this.#kafka.lostPromotions(this.#model).filter(isHere);
    if (lost.length === 0) return [];
    for (const board of this.scenario.variants.map(([first]) => first!.board).filter(isHere)) {
      this.#model.drop(board);
      this.#model.promotions.delete(board);
      this.#live.model.deleteReports(board);
    }
    this.#live.model.reset(shard);
    return lost;
  }

  /** Registers what is in force, and what is new in the file. */
  async #register(): Promise<void> {
    const { store } = this.#live;
    const wanted = this.#kafka.wanted();
    const boards = await store.registerBoards(wanted, this.#kafka.current);
    const promotions = await store.promotions();
    for (const definition of wanted)
      if (!this.#model.live.has(definition.board)) this.#add(definition, boards, promotions);
    for (const { board, definition } of this.#kafka.current.values())
      if (definition === null && !this.#model.live.has(board)) this.#model.removed.add(board);
    expect(promotions).toEqual(this.#model.promotions);
    await this.#refresh();
    this.#kafka.recordMissing(this.#model);
  }

  #add(
    definition: BoardDefinition,
    { live }: Boards,
    promotions: ReadonlyMap<string, number>,
  ): void {
    const { board } = definition;
    this.#model.removed.delete(board);
    const shard = this.#shardOf(board);
    const isLate = this.scenario.logs.some(
      (_, partition) => this.#live.model.partition(shard, partition).appliedOffset >= 0,
    );
    const generation = live.get(board)?.generation ?? NO_GENERATION;
    expect(generation === NO_GENERATION).toBe(isLate);
    this.#model.live.set(board, generation);
    if (isLate) return;
    const { starts, since = 0 } = this.#kafka.current.get(board) ?? {};
    expect(this.#boardOf.has(generation)).toBe(false);
    this.#model.add({ generation, board, definition, ...(starts && { starts }), isBegun: false });
    const promotion = promotions.get(board) ?? 0;
    expect(promotion).toBeGreaterThan(Math.max(since, this.#model.promotions.get(board) ?? 0));
    this.#model.promotions.set(board, promotion);
  }

  /** Live ingest reads the boards again. */
  async #refresh(): Promise<void> {
    const boards = await this.#live.store.boards();
    const { live, building, removed } = boards;
    const pointers = [...live.values()].map(({ board, generation }) => [board, generation]);
    const none = [...building].map((board) => [board, NO_GENERATION]);
    expect([...pointers, ...none].sort()).toEqual([...this.#model.live].sort());
    expect([...removed].sort()).toEqual([...this.#model.removed].sort());
    compareVersions(this.#live.boards, boards, (board) => this.#shardOf(board));
    for (const { generation, definition, starts } of live.values()) {
      const known = this.#model.generation(generation);
      expect({ definition, starts }).toEqual({
        definition: known.definition,
        starts: known.starts,
      });
      this.#boardOf.set(generation, known.board);
    }
    this.#live.boards = boards;
  }

  #published(partition: number, verdict: Verdict): void {
    const name = `${partition}/${verdict.offset}`;
    this.#verdicts.set(name, [...(this.#verdicts.get(name) ?? []), verdict]);
    const playerId = this.#sandbox.log.playerOf(partition, verdict.offset);
    if (verdict.kind !== 'rankChange' || playerId === undefined) return;
    const board = this.#boardOf.get(verdict.generation)!;
    if (this.scenario.keyed && this.#variants(board).every(tellsAll))
      this.#chains.take({ board, partition, playerId }, verdict);
  }

  /** Of each record one result at most, and of each view that it moved one report of its leaders. */
  #compareTold(): void {
    for (const verdicts of this.#verdicts.values()) {
      const own = verdicts.filter(({ kind }) => kind !== 'leaderChange');
      expect(own.length).toBeLessThanOrEqual(1);
      const views = verdicts.flatMap((one) => (one.kind === 'leaderChange' ? [one.view] : []));
      expect(new Set(views).size).toBe(views.length);
    }
  }

  /** Every generation is what its oracle says, byte by byte, whatever happens beside it. */
  async #compare(): Promise<void> {
    const { redis, keys } = this;
    const generations = [...this.#model.generations.values()].map((generation) =>
      compareGeneration(
        redis,
        this.#place(generation),
        generation.oracle,
        this.#model.isRanked(generation),
      ),
    );
    const boards = [...this.#model.live.keys()].map(async (board) => {
      await compareReports(redis, { keys, shard: this.#shardOf(board), board }, this.#live.model);
      await this.#compareVersions(board);
    });
    await Promise.all([...generations, ...boards]);
  }

  /** The version of a view that reads return only grows, and is at least the published one. */
  async #compareVersions(board: string): Promise<void> {
    const live = this.#model.liveGeneration(board);
    for (const view of live?.oracle.views(board).slice(0, 1) ?? []) {
      const { version } = await this.#reader.standings(board, view, { offset: 0, limit: 1 });
      expect(version).toBeGreaterThanOrEqual(this.#read.get(`${board} ${view}`) ?? 0);
      this.#read.set(`${board} ${view}`, version);
    }
  }

  /** A board is what the whole log makes of it, in one go; and a comparison says so. */
  async #finishBoard(board: string): Promise<void> {
    const builder = this.#builder(board);
    while (!(await builder.prepare()));
    if (this.#model.liveGeneration(board) === undefined) {
      await builder.begin({ definition: this.#variants(board)[0]!, purpose: 'build' });
      await this.#promote(builder, { sizes: undefined, kept: true, recorded: true });
    }
    const live = this.#model.liveGeneration(board)!;
    await this.#verify(builder, { between: [] });
    const oracle = new Oracle([live.definition]);
    for (let partition = 0; partition < this.#sandbox.log.partitions; partition++)
      for (const { event } of this.#sandbox.log.events(live, partition))
        oracle.apply(board, event, partition);
    const whole = { ...live, oracle };
    const { keyed } = this.scenario;
    if (!this.#model.isPromised(live, keyed) || !this.#model.isPromised(whole, keyed)) return;
    const bytes = (one: Oracle) => one.views(board).map((view) => [view, one.bytes(board, view)]);
    expect(bytes(live.oracle)).toEqual(bytes(oracle));
  }

  async #compareKeys(): Promise<void> {
    const { keys, redis } = this;
    const { shards } = this.scenario;
    await compareGenerationKeys(redis, { keys, shards, shardOf: this.#shardOf }, this.#live.model);
  }

  readonly #shardOf = (board: string) => this.#live.store.shardOf(board);

  #place(live: GenerationModel) {
    return { keys: this.keys, shard: this.#shardOf(live.board), live };
  }

  #boardName(board: number): string {
    return this.scenario.variants[board]![0]!.board;
  }

  #variants(board: string): readonly BoardDefinition[] {
    return this.scenario.variants.find(([first]) => first!.board === board)!;
  }
}

/** Whether every movement on a board is published. */
function tellsAll({ publish }: BoardDefinition): boolean {
  const { rankChanges, windows, dimensions } = publish;
  return rankChanges === 'every' && windows === undefined && dimensions === undefined;
}

function newModel(): Model {
  return new StoreModel(new GenerationsModel());
}

function ended<E>(reached: { readonly hasEnded: boolean; readonly ending?: E }): E {
  if (reached.ending === undefined)
    throw new Error('the shadow did not come to the live applied offsets');
  return reached.ending;
}
