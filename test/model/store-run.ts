import { expect } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { ApplyEntry, Boards, KeySpace, LiveBoard, Verdict } from '#board-store';
import type { BoardDefinition } from '#board';
import { LiveRun, type LogEntry } from './live-run.js';
import { Oracle, type OracleBytes } from './oracle.js';
import type { Scenario, Step } from './scenario.js';
import { readBytes, restoreKeys, saveKeys, type SavedKeys } from './store-keys.js';
import { StoreModel } from './store-model.js';
import { Subscriber } from './subscriber.js';
import { compareBoard, compareKeys } from './store-comparison.js';

/**
 * Takes a scenario's logs to a store by one way, with the oracle beside it, and compares every answer.
 * After `finish` all records are applied and published, and all keys have been compared. States: see LiveRun.
 */
export class StoreRun {
  readonly #live: LiveRun<Oracle>;
  readonly #logs: readonly (readonly ApplyEntry[])[];
  readonly #subscriber = new Subscriber();
  /** Boards that need not come out the same in another interleaving. */
  readonly #unpromised = new Set<string>();
  #saved: { keys: SavedKeys; model: StoreModel<Oracle>; boards: Boards } | undefined;
  /** The store has had one memory from the start. */
  #unbroken = true;

  constructor(
    private readonly redis: Redis,
    private readonly keys: KeySpace,
    private readonly scenario: Scenario,
    private readonly shards: number,
  ) {
    this.#logs = scenario.logs.map((_, partition) => entriesOf(scenario, partition));
    const parts = {
      redis,
      keys,
      shards,
      partitions: this.#logs.length,
      log: (partition: number) => this.#logs[partition]!,
      boardOf: (_: number, entry: LogEntry) => (entry.kind === 'event' ? entry.board : undefined),
      published: this.#published.bind(this),
    };
    this.#live = new LiveRun(parts, newModel(scenario));
  }

  async prepare(): Promise<void> {
    const { store } = this.#live;
    await store.claim();
    this.#live.boards = await store.registerBoards(this.scenario.definitions);
    await this.#live.endResync();
  }

  async step(step: Step): Promise<void> {
    switch (step.kind) {
      case 'apply':
        return this.#live.apply(step);
      case 'sweep':
        return this.#live.sweep();
      case 'lose':
        return this.#lose();
      case 'save':
        return this.#save();
      case 'rollback':
        return this.#restore();
    }
  }

  /**
   * Applies what is left, publishes all, and compares the keys and what was published. Answers the bytes of the boards
   * that have to be the same by every way, and leaves no key behind.
   */
  async finish(): Promise<Map<string, Record<string, OracleBytes>>> {
    await this.#live.applyAll();
    await this.#compare();
    await this.#live.sweep();
    await this.#compare();
    const promised = await this.#promisedBoards();
    await restoreKeys(this.redis, this.keys, new Map());
    return promised;
  }

  get #model(): StoreModel<Oracle> {
    return this.#live.model;
  }

  #published(partition: number, verdict: Verdict): void {
    const entry = this.#logs[partition]!.find(({ offset }) => offset === verdict.offset);
    if (entry?.kind === 'event') this.#subscriber.take(entry.board, entry.event.playerId, verdict);
  }

  async #lose(): Promise<void> {
    await restoreKeys(this.redis, this.keys, new Map());
    this.#forget(newModel(this.scenario));
    this.#saved = undefined; // its verdicts have versions from before those that come now
    await this.prepare();
  }

  async #save(): Promise<void> {
    this.#saved = {
      keys: await saveKeys(this.redis, this.keys),
      model: this.#model.copy(),
      boards: this.#live.boards,
    };
  }

  async #restore(): Promise<void> {
    if (this.#saved === undefined) return;
    const { keys, model, boards } = this.#saved;
    await restoreKeys(this.redis, this.keys, keys);
    await this.#live.compareRollBacks(model, boards);
    this.#forget(model.copy());
    this.#live.boards = boards;
    await this.#live.endResync();
  }

  #forget(model: StoreModel<Oracle>): void {
    this.#noteUnpromised();
    this.#unbroken = false;
    this.#live.forget(model);
  }

  #noteUnpromised(): void {
    for (const { board } of this.scenario.definitions)
      if (!this.#model.isPromised(board, this.scenario.keyed)) this.#unpromised.add(board);
  }

  async #compare(): Promise<void> {
    const { redis, keys } = this;
    for (const live of this.#liveBoards())
      await compareBoard(redis, this.#place(live), this.#model);
    const places = this.#liveBoards().map((live) => this.#place(live));
    await compareKeys(redis, { keys, shards: this.shards, places }, this.#model);
    this.#noteUnpromised();
    for (const { definition } of this.#liveBoards())
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
    for (const live of this.#liveBoards()) {
      if (this.#unpromised.has(live.board)) continue;
      const bytes: Record<string, OracleBytes> = {};
      for (const view of this.#model.oracle.views(live.board))
        bytes[view] = await readBytes(this.redis, this.#place(live), view);
      promised.set(live.board, bytes);
    }
    return promised;
  }

  #liveBoards(): LiveBoard[] {
    return [...this.#live.boards.live.values()];
  }

  #place(live: LiveBoard) {
    return { keys: this.keys, shard: this.#live.store.shardOf(live.board), live };
  }
}

function newModel({ definitions }: Scenario): StoreModel<Oracle> {
  return new StoreModel(new Oracle(definitions));
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
