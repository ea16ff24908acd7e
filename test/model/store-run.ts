import { expect } from '@jest/globals';
import type { Redis } from 'ioredis';
import {
  BoardStore,
  ContinuityStore,
  type ApplyCall,
  type ApplyEntry,
  type KeySpace,
  type LiveBoard,
  type Verdict,
} from '#board-store';
import type { BoardDefinition } from '#board';
import { comparedToken } from '../board-store/fixture.js';
import type { OracleBytes } from './oracle.js';
import type { ApplyStep, Scenario, Step } from './scenario.js';
import { readBytes, restoreKeys, saveKeys, type SavedKeys } from './store-keys.js';
import { StoreModel } from './store-model.js';
import { Subscriber } from './subscriber.js';
import { compareBoard, compareKeys } from './store-comparison.js';

interface Call {
  readonly shard: number;
  readonly partition: number;
  readonly run: readonly ApplyEntry[];
  readonly stale: boolean;
}

/**
 * Takes a scenario's logs to a store by one way, with the oracle beside it, and compares every answer.
 * After `finish` all records are applied and published, and all keys have been compared.
 *
 * States: in step with the store; after `lose` and `restore` healing, until every partition has been applied up to
 * its published position again: until then nothing beyond is applied anywhere.
 */
export class StoreRun {
  readonly #store: BoardStore;
  readonly #losses: ContinuityStore;
  readonly #logs: readonly (readonly ApplyEntry[])[];
  readonly #next: number[];
  readonly #published: number[];
  /** The last version of each view, by `board view`. */
  readonly #versions = new Map<string, number>();
  readonly #subscriber = new Subscriber();
  /** Boards that need not come out the same in another interleaving. */
  readonly #unpromised = new Set<string>();
  #model: StoreModel;
  #boards: ReadonlyMap<string, LiveBoard> = new Map();
  /** The continuity of each shard. */
  #tokens: string[] = [];
  #saved:
    { keys: SavedKeys; model: StoreModel; boards: ReadonlyMap<string, LiveBoard> } | undefined;
  /** The store has had one memory from the start. */
  #unbroken = true;

  constructor(
    private readonly redis: Redis,
    private readonly keys: KeySpace,
    private readonly scenario: Scenario,
    private readonly shards: number,
  ) {
    this.#store = new BoardStore(redis, keys, { shards });
    this.#losses = new ContinuityStore(redis, keys, { shards });
    this.#logs = scenario.logs.map((_, partition) => entriesOf(scenario, partition));
    this.#next = this.#logs.map(() => 0);
    this.#published = this.#logs.map(() => 0);
    this.#model = new StoreModel(scenario.definitions);
  }

  async prepare(): Promise<void> {
    await this.#store.claimShards();
    this.#boards = (await this.#store.registerBoards(this.scenario.definitions)).live;
    await this.#heal();
  }

  async step(step: Step): Promise<void> {
    switch (step.kind) {
      case 'apply':
        return this.#apply(step);
      case 'sweep':
        return this.#sweep();
      case 'lose':
        return this.#lose();
      case 'save':
        return this.#save();
      case 'restore':
        return this.#restore();
    }
  }

  /**
   * Applies what is left, publishes all, and compares the keys and what was published. Answers the bytes of the boards
   * that have to be the same by every way, and leaves no key behind.
   */
  async finish(): Promise<Map<string, Record<string, OracleBytes>>> {
    const rest = { kind: 'apply', back: 3, stale: false, publish: 1 } as const;
    for (let healing = 0; healing < 2; healing++)
      for (const [partition, log] of this.#logs.entries())
        await this.#apply({ ...rest, partition, size: log.length });
    for (const [partition, log] of this.#logs.entries()) {
      await this.#apply({ ...rest, partition, size: 0 });
      const last = offsetAfter(log, log.length) - 1;
      expect(await this.#store.watermarks(partition)).toEqual(Array(this.shards).fill(last));
    }
    await this.#compare();
    await this.#sweep();
    await this.#compare();
    const promised = await this.#promisedBoards();
    await restoreKeys(this.redis, this.keys, new Map());
    return promised;
  }

  /** Compares the shards with the published positions; who believes in what was before is refused from then on. */
  async #heal(): Promise<void> {
    const old = this.#tokens;
    this.#tokens = [];
    const positions = new Map(this.#published.entries());
    for (let shard = 0; shard < this.shards; shard++) {
      this.#tokens.push(await comparedToken(this.#losses, shard, positions));
      this.#model.heal(shard, this.#published);
      const call = { ...this.#idleCall(shard, 0), continuity: old[shard] ?? '' };
      expect(await this.#store.apply(call)).toEqual({ status: 'storeChanged' });
    }
    await this.#compareHealing();
  }

  async #compareHealing(): Promise<void> {
    const found = await this.#losses.healing();
    const expected = this.#tokens.flatMap((_, shard) =>
      this.#logs.flatMap((_log, partition) => {
        const { target, watermark } = this.#model.partition(shard, partition);
        return target > 0 ? [{ shard, partition, target, applied: watermark + 1 }] : [];
      }),
    );
    expect(found).toEqual(expected);
  }

  #idleCall(shard: number, partition: number): ApplyCall {
    const { watermark } = this.#model.partition(shard, partition);
    return {
      shard,
      partition,
      believed: watermark,
      published: this.#published[partition]!,
      through: watermark,
      entries: [],
      boards: new Map([...this.#boards].filter(([board]) => this.#store.shardOf(board) === shard)),
      continuity: this.#tokens[shard] ?? '',
    };
  }

  async #apply({ partition, size, back, stale, publish }: ApplyStep): Promise<void> {
    this.#publish(partition, publish);
    const log = this.#logs[partition]!;
    const next = this.#next[partition]!;
    const published = this.#published[partition]!;
    const healing = this.#isHealing();
    const unpublished = log.slice(0, next + size).findIndex(({ offset }) => offset >= published);
    const healed = unpublished < 0 ? log.length : unpublished;
    const last = Math.min(log.length, next + size, healing ? Math.max(next, healed) : Infinity);
    const first = Math.max(0, Math.min(last, next) - back);
    await this.#reachPublished();
    for (const run of splitAt(log.slice(first, last), published))
      for (let shard = 0; shard < this.shards; shard++)
        await this.#call({ shard, partition, run, stale });
    if (healing) await this.#expectRefusal(partition);
    this.#next[partition] = Math.max(next, last);
  }

  /** Where no record is left below the published position, it has to be reached all the same. */
  async #reachPublished(): Promise<void> {
    for (const [partition, published] of this.#published.entries()) {
      const next = this.#logs[partition]![this.#next[partition]!]?.offset ?? Infinity;
      if (next < published) continue;
      for (let shard = 0; shard < this.shards; shard++) {
        const kept = this.#model.partition(shard, partition);
        const through = published - 1;
        if (kept.watermark >= through) continue;
        const outcome = await this.#store.apply({ ...this.#idleCall(shard, partition), through });
        expect(outcome).toEqual({ status: 'applied', watermark: through, verdicts: [] });
        kept.watermark = through;
        kept.published = Math.max(kept.published, published);
        kept.target = 0;
      }
    }
  }

  /** While a shard heals, nothing new is applied to it. */
  async #expectRefusal(partition: number): Promise<void> {
    const published = this.#published[partition]!;
    for (let shard = 0; shard < this.shards; shard++) {
      const { watermark } = this.#model.partition(shard, partition);
      const entries = this.#logs[partition]!.filter(
        (entry) =>
          entry.offset >= Math.max(published, watermark + 1) &&
          this.#shardOf(entry, partition) === shard,
      );
      if (entries.length === 0 || !this.#model.isHealing(shard)) continue;
      const through = entries.at(-1)!.offset;
      const call = { ...this.#idleCall(shard, partition), entries, through };
      expect(await this.#store.apply(call)).toEqual({ status: 'healing' });
    }
  }

  #isHealing(): boolean {
    return this.#logs.some(
      (log, partition) =>
        (log[this.#next[partition]!]?.offset ?? Infinity) < this.#published[partition]!,
    );
  }

  /** Moves the published position by a share of what was applied; the subscriber reads what lies between. */
  #publish(partition: number, share: number): void {
    const from = this.#published[partition]!;
    const applied = offsetAfter(this.#logs[partition]!, this.#next[partition]!);
    const to = from + Math.max(0, Math.floor((applied - from) * share));
    for (const entry of this.#logs[partition]!)
      for (let shard = 0; shard < this.shards; shard++)
        for (const verdict of this.#model.partition(shard, partition).outbox)
          if (verdict.offset === entry.offset && verdict.offset >= from && verdict.offset < to)
            this.#subscriber.take(entry, verdict);
    this.#published[partition] = to;
  }

  async #call(call: Call): Promise<void> {
    const { shard, partition, stale, run } = call;
    const kept = this.#model.partition(shard, partition);
    const entries = run.filter((entry) => this.#shardOf(entry, partition) === shard);
    const request: ApplyCall = {
      ...this.#idleCall(shard, partition),
      ...(stale ? { believed: -1, published: 0 } : {}),
      through: run.at(-1)?.offset ?? kept.watermark,
      entries,
    };
    const outcome = await this.#store.apply(request);
    if (outcome.status !== 'applied') throw new Error(`the store answered ${outcome.status}`);
    this.#compareAnswer(request, outcome.verdicts);
    expect(outcome.watermark).toBe(kept.watermark);
    await this.#compareUnpublished(shard, partition);
  }

  /** Compares the verdicts of a call with those that it has to answer, and takes the new ones in. */
  #compareAnswer(
    { shard, partition, published, through, entries }: ApplyCall,
    answered: readonly Verdict[],
  ): void {
    const kept = this.#model.partition(shard, partition);
    const { watermark } = kept;
    kept.published = Math.max(kept.published, published);
    kept.watermark = Math.max(watermark, through);
    if (kept.watermark + 1 >= kept.target) kept.target = 0;
    kept.outbox = kept.outbox.filter(({ offset }) => offset >= kept.published);
    expect(answered).toEqual(answered.toSorted(byOffset));
    const repeated = new Set(entries.map(({ offset }) => offset));
    const stored = kept.outbox.filter(({ offset }) => repeated.has(offset));
    const old = answered.filter(({ offset }) => offset <= watermark);
    expect(old.toSorted(byOffsetAndView)).toEqual(stored.toSorted(byOffsetAndView));
    const expected = this.#model.judge(
      entries.filter(({ offset }) => offset > watermark),
      { partition, muted: kept.watermark < kept.published },
    );
    const fresh = answered.filter(({ offset }) => offset > watermark);
    expect(fresh.map((verdict) => this.#asExpected(verdict)).toSorted(byOffsetAndView)).toEqual(
      expected.toSorted(byOffsetAndView),
    );
    this.#takeVersions(fresh);
    kept.outbox.push(...fresh);
  }

  /** A verdict with its board in place of the generation, and without versions of its own. */
  #asExpected(verdict: Verdict) {
    if (verdict.kind === 'deadLetter') return verdict;
    const { generation, ...fields } = verdict;
    const board = this.#boardOf(generation);
    if (fields.kind === 'leaderChange') return { ...fields, ...UNKNOWN, board };
    const changes = fields.changes.map((change) => ({ ...change, ...UNKNOWN }));
    return { ...fields, changes, board };
  }

  /** A call gives one version to all that it tells of a view, above those of earlier calls. */
  #takeVersions(verdicts: readonly Verdict[]): void {
    const versions = new Map<string, number>();
    for (const verdict of verdicts) {
      if (verdict.kind === 'deadLetter') continue;
      const board = this.#boardOf(verdict.generation);
      for (const { view, version } of verdict.kind === 'leaderChange'
        ? [verdict]
        : verdict.changes) {
        const name = `${board} ${view}`;
        expect(version).toBe(versions.get(name) ?? version);
        expect(version).toBeGreaterThan(this.#versions.get(name) ?? 0);
        versions.set(name, version);
      }
      if (verdict.kind === 'leaderChange') this.#model.report(board, verdict);
    }
    for (const [name, version] of versions) this.#versions.set(name, version);
  }

  async #compareUnpublished(shard: number, partition: number): Promise<void> {
    const stored = await this.redis.zrange(this.keys.outbox(shard, partition), 0, -1);
    const { outbox, published } = this.#model.partition(shard, partition);
    const kept = await this.redis.hget(this.keys.published(shard), String(partition));
    expect(Number(kept)).toBe(published);
    const offsets = stored
      .flatMap((verdicts) => verdicts.split('\x1e'))
      .map((verdict) => Number.parseInt(verdict, 10))
      .filter((offset) => offset >= published)
      .sort((a, b) => a - b);
    expect(offsets).toEqual(outbox.map(({ offset }) => offset).sort((a, b) => a - b));
  }

  async #sweep(): Promise<void> {
    for (const live of this.#boards.values()) {
      const gone = this.#model.sweep(live.board);
      let removed = 0;
      for (let some = Infinity; some > 0; removed += some) some = await this.#store.sweep(live);
      expect(removed).toBe(gone);
    }
  }

  async #lose(): Promise<void> {
    await restoreKeys(this.redis, this.keys, new Map());
    this.#forget(new StoreModel(this.scenario.definitions));
    this.#saved = undefined; // its verdicts have versions from before those that come now
    await this.prepare();
  }

  async #save(): Promise<void> {
    this.#saved = {
      keys: await saveKeys(this.redis, this.keys),
      model: this.#model.copy(),
      boards: this.#boards,
    };
  }

  async #restore(): Promise<void> {
    if (this.#saved === undefined) return;
    const { keys, model, boards } = this.#saved;
    await restoreKeys(this.redis, this.keys, keys);
    await this.#compareRollBacks(model, boards);
    this.#forget(model.copy());
    this.#boards = boards;
    await this.#heal();
  }

  /** A caller who believes in a watermark that is no more is told. */
  async #compareRollBacks(
    model: StoreModel,
    boards: ReadonlyMap<string, LiveBoard>,
  ): Promise<void> {
    for (const partition of this.#logs.keys())
      for (let shard = 0; shard < this.shards; shard++) {
        const believed = this.#model.partition(shard, partition).watermark;
        if (believed <= model.partition(shard, partition).watermark) continue;
        const continuity = (await this.#losses.continuity(shard)).token;
        const call = { ...this.#idleCall(shard, partition), believed, continuity };
        const live = new Map([...boards].filter(([board]) => this.#store.shardOf(board) === shard));
        const outcome = await this.#store.apply({ ...call, boards: live });
        expect(outcome).toEqual({ status: 'rolledBack' });
      }
  }

  /** Goes on from what the store still has. */
  #forget(model: StoreModel): void {
    this.#noteUnpromised();
    this.#model = model;
    this.#unbroken = false;
    for (const [partition, log] of this.#logs.entries()) {
      const { watermark } = model.partition(0, partition);
      this.#next[partition] = log.filter(({ offset }) => offset <= watermark).length;
    }
  }

  #noteUnpromised(): void {
    for (const { board } of this.scenario.definitions)
      if (!this.#model.isPromised(board, this.scenario.keyed)) this.#unpromised.add(board);
  }

  async #compare(): Promise<void> {
    const { redis, keys } = this;
    for (const live of this.#boards.values())
      await compareBoard(redis, this.#place(live), this.#model);
    const places = [...this.#boards.values()].map((live) => this.#place(live));
    await compareKeys(redis, { keys, shards: this.shards, places }, this.#model);
    this.#noteUnpromised();
    for (const { definition } of this.#boards.values())
      if (this.scenario.keyed && !this.#unpromised.has(definition.board))
        this.#compareSubscriber(definition);
  }

  /** What was published tells of every view that exists what it holds. A player's records have to come in order for that. */
  #compareSubscriber({ board, publish }: BoardDefinition): void {
    const { oracle } = this.#model;
    for (const view of oracle.views(board)) {
      if (!oracle.memory(board).views.get(view)!.published) continue;
      const name = `${board} ${view}`;
      const top = this.#subscriber.leaders(name, { unbroken: this.#unbroken });
      if (publish.leaders > 0) expect(top).toEqual(oracle.leaders(board, view));
      if (publish.rankChanges !== 'every') continue;
      const standings = oracle.standings(board, view);
      expect(this.#subscriber.columns(name)).toEqual(
        Object.fromEntries(standings.map(({ playerId, columns }) => [playerId, columns])),
      );
    }
  }

  async #promisedBoards(): Promise<Map<string, Record<string, OracleBytes>>> {
    const promised = new Map<string, Record<string, OracleBytes>>();
    for (const live of this.#boards.values()) {
      if (this.#unpromised.has(live.board)) continue;
      const bytes: Record<string, OracleBytes> = {};
      for (const view of this.#model.oracle.views(live.board))
        bytes[view] = await readBytes(this.redis, this.#place(live), view);
      promised.set(live.board, bytes);
    }
    return promised;
  }

  #place(live: LiveBoard) {
    return { keys: this.keys, shard: this.#store.shardOf(live.board), live };
  }

  #boardOf(generation: string): string {
    const found = [...this.#boards.values()].find((live) => live.generation === generation);
    if (found === undefined) throw new Error(`no board has the generation ${generation}`);
    return found.board;
  }

  #shardOf(entry: ApplyEntry, partition: number): number {
    return entry.kind === 'event'
      ? this.#store.shardOf(entry.board)
      : this.#store.homeShard(partition);
  }
}

/** Redis draws versions from its clock. */
const UNKNOWN = { version: undefined };

interface Ordered {
  readonly kind: Verdict['kind'];
  readonly offset: number;
  readonly view?: unknown;
}

/** By offset; a leader change comes after what the event itself brought about. */
function byOffset(a: Ordered, b: Ordered): number {
  return (
    a.offset - b.offset || Number(a.kind === 'leaderChange') - Number(b.kind === 'leaderChange')
  );
}

function byOffsetAndView(a: Ordered, b: Ordered): number {
  const [one, other] = [String(a.view), String(b.view)];
  return byOffset(a, b) || (one === other ? 0 : one < other ? -1 : 1);
}

/** The records of a partition with their offsets; gaps stand for control records. */
function entriesOf({ logs, definitions }: Scenario, partition: number): ApplyEntry[] {
  let offset = -1;
  return logs[partition]!.map(({ gap, ...record }) => {
    offset += gap + 1;
    return record.kind === 'event'
      ? { kind: 'event', offset, board: definitions[record.board]!.board, event: record.event }
      : { ...record, offset };
  });
}

/** The offset after the first `count` entries. */
function offsetAfter(log: readonly ApplyEntry[], count: number): number {
  return (log.slice(0, count).at(-1)?.offset ?? -1) + 1;
}

/** A run as the calls it takes: none straddles the published position. An empty run is one call, too. */
function splitAt(run: readonly ApplyEntry[], published: number): (readonly ApplyEntry[])[] {
  const at = run.filter(({ offset }) => offset < published).length;
  return at === 0 || at === run.length ? [run] : [run.slice(0, at), run.slice(at)];
}
