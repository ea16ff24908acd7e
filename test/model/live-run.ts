import { expect } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { DefinitionRecord } from '#contracts';
import {
  BoardStore,
  ContinuityStore,
  type ApplyCall,
  type ApplyEntry,
  type Boards,
  type KeySpace,
  type LiveBoard,
  type Verdict,
} from '#board-store';
import { parseVerdicts } from '../../libs/board-store/apply/verdicts.js';
import { LiveAnswers } from './live-answers.js';
import { offsetAfter, splitAt, type LogEntry, type ScenarioLog } from './scenario-log.js';
import type { ApplyStep } from './steps.js';
import { StoreModel } from './store-model.js';

/** The store and the data of its caller. */
interface Parts {
  readonly redis: Redis;
  readonly keys: KeySpace;
  readonly shards: number;
  readonly log: ScenarioLog;
  /** Called once for each published result of a partition. */
  readonly published: (partition: number, verdict: Verdict) => void;
}

export const NO_BOARDS: Boards = {
  live: new Map(),
  building: new Set(),
  removed: new Set(),
  versions: [],
};

/**
 * Live ingest and the model of the store: applies records, publishes their results, and compares
 * every answer.
 *
 * States: in step with the store; recovering after a loss of Redis, until every partition has been
 * applied up to its published position again. Until then, no new record at or above a published
 * position is applied.
 */
export class LiveRun {
  readonly store: BoardStore;
  boards: Boards = NO_BOARDS;
  model = new StoreModel();
  readonly #resync: ContinuityStore;
  /** By partition, how many records have been applied in every shard. */
  readonly #next: number[];
  /** The published position of each partition. */
  readonly #published: number[];
  readonly #answers = new LiveAnswers();
  /** The continuity of each shard. */
  #tokens: string[] = [];

  constructor(private readonly parts: Parts) {
    const { redis, keys, shards, log } = parts;
    this.store = new BoardStore(redis, keys, { shards });
    this.#resync = new ContinuityStore(redis, keys, { shards });
    this.#next = Array.from({ length: log.partitions }, () => 0);
    this.#published = [...this.#next];
  }

  /** A call without records. */
  idleCall(shard: number, partition: number): ApplyCall {
    const { appliedOffset } = this.model.partition(shard, partition);
    return {
      shard,
      partition,
      believed: appliedOffset,
      published: this.#published[partition]!,
      from: appliedOffset + 1,
      through: appliedOffset,
      entries: [],
      boards: this.boards.live,
      version: this.boards.versions[shard] ?? '',
      continuity: this.#tokens[shard] ?? '',
    };
  }

  /**
   * Resyncs the shards with the published positions and the definition records. From then on, the
   * store refuses calls with an older continuity. `reset` returns the boards of a shard whose last
   * promotion or removal is lost; if there are any, it resets the model of the shard.
   */
  async endResync(
    current: ReadonlyMap<string, DefinitionRecord>,
    reset: (shard: number) => readonly string[] = () => [],
  ) {
    const old = this.#tokens;
    this.#tokens = [];
    const positions = new Map(this.#published.entries());
    for (const shard of this.#shards()) {
      const begun = await this.#resync.beginResync(shard, await this.#resync.continuity(shard));
      const recovered = begun && (await this.#resync.endResync(shard, begun, positions, current));
      if (begun !== undefined) await this.#resync.release(begun);
      if (recovered === undefined) throw new Error(`the resync of shard ${shard} was refused`);
      this.#tokens.push(recovered.token);
      expect([...recovered.outdated].sort()).toEqual([...reset(shard)].sort());
      this.model.recover(shard, this.#published);
      const call = { ...this.idleCall(shard, 0), continuity: old[shard] ?? '' };
      expect(await this.store.apply(call)).toEqual({ status: 'storeChanged' });
    }
    await this.#compareRecovering();
  }

  async #compareRecovering(): Promise<void> {
    const found = await this.#resync.recoveryTargets();
    const expected = this.#tokens.flatMap((_, shard) =>
      this.#next.flatMap((_next, partition) => {
        const { target, appliedOffset } = this.model.partition(shard, partition);
        return target > 0 ? [{ shard, partition, target, applied: appliedOffset + 1 }] : [];
      }),
    );
    expect(found).toEqual(expected);
  }

  /** Publishes a share of the results so far, repeats records, and applies some new ones. */
  async apply(step: ApplyStep): Promise<void> {
    const { partition, size, back, skip, stale, publish, killed } = step;
    this.#publish(partition, publish);
    const log = this.#log(partition);
    const next = this.#next[partition]!;
    const published = this.#published[partition]!;
    const recovering = [...this.#next.keys()].some((one) => this.#isBehind(one));
    const recovered = log.filter(({ offset }) => offset < published).length;
    const most = recovering ? Math.max(next, recovered) : log.length;
    const last = Math.min(next + size, most);
    const first = Math.max(0, Math.min(last, next) - back);
    await this.#reachPublished();
    await this.#expectGaps(partition, next + skip);
    let from = offsetAfter(log, first);
    let done = first;
    let steps = killed;
    for (const run of splitAt(log.slice(first, last), published)) {
      for (const shard of this.#shards()) {
        const call = this.#call(shard, partition, from, run);
        const sent = stale ? { ...call, believed: -1, published: 0 } : call;
        const taken = await this.#applyWhole(sent, steps);
        if (taken === undefined) {
          this.#next[partition] = Math.max(next, done);
          return;
        }
        steps -= taken;
      }
      from = (run.at(-1)?.offset ?? from - 1) + 1;
      done += run.length;
    }
    if (recovering) await this.#expectRefusal(partition);
    this.#next[partition] = Math.max(next, last);
  }

  /**
   * Makes a call, and those that settle its player record. Returns how many calls settled views;
   * undefined if it was killed, after `most` of them.
   */
  async #applyWhole(call: ApplyCall, most: number): Promise<number | undefined> {
    await this.#apply(call);
    const records = call.entries.filter((entry) => entry.kind === 'player');
    const isOpen = this.model.partition(call.shard, call.partition).appliedOffset < call.through;
    if (!isOpen || records.length === 0) return 0;
    const live = this.boards.live.get(records[0]!.board)!;
    const ids = records.map(({ playerId }) => playerId);
    const views = await this.store.viewsOfPlayers(live, ids);
    const pairs = records.flatMap(({ playerId }) =>
      views.get(playerId)!.map((view) => ({ playerId, view })),
    );
    const size = 1 + (call.through % 4);
    for (let from = 0, taken = 0; ; from += size, taken++) {
      if (taken === most) return undefined;
      const some = pairs.slice(from, from + size);
      const viewsOf = (id: string) => some.filter(({ playerId }) => playerId === id);
      const entries = records.map((record) => {
        return { ...record, views: viewsOf(record.playerId).map(({ view }) => view) };
      });
      const isLast = from + size >= pairs.length;
      await this.#apply({ ...call, entries, isLast });
      if (isLast) return taken + 1;
    }
  }

  /** Applies what is left, publishes all, and compares the applied offsets. */
  async applyAll(): Promise<void> {
    const never = { skip: 0, stale: false, killed: Infinity } as const;
    const rest = { kind: 'apply', back: 3, publish: 1, ...never } as const;
    const partitions = [...this.#next.keys()];
    for (let recovering = 0; recovering < 2; recovering++)
      for (const partition of partitions)
        await this.apply({ ...rest, partition, size: this.#log(partition).length });
    for (const partition of partitions) {
      await this.apply({ ...rest, partition, size: 0 });
      const last = offsetAfter(this.#log(partition), Infinity) - 1;
      const appliedOffsets = Array<number>(this.parts.shards).fill(last);
      expect(await this.store.appliedOffsets(partition)).toEqual(appliedOffsets);
    }
  }

  /** Sweeps the expired views of the live boards. */
  async sweep(): Promise<void> {
    for (const live of this.boards.live.values()) {
      const gone = this.model.sweep(live.board);
      expect(await this.sweepViews(live)).toBe(gone);
    }
  }

  /** Sweeps the expired views of a generation; returns how many. */
  async sweepViews(generation: LiveBoard): Promise<number> {
    const removed = await this.store.sweep(generation);
    return removed === 0 ? 0 : removed + (await this.sweepViews(generation));
  }

  /**
   * Continues from what the store still has according to `model`. Shards may have lost different
   * parts; records that one shard lacks are applied again in all shards.
   */
  forget(model: StoreModel): void {
    this.model = model;
    for (const partition of this.#next.keys()) {
      const kept = this.#shards().map((shard) => model.partition(shard, partition));
      const applied = Math.min(...kept.map(({ appliedOffset }) => appliedOffset));
      this.#next[partition] = this.#log(partition).filter(({ offset }) => offset <= applied).length;
    }
  }

  /**
   * Checks that the store refuses a caller whose applied offsets were lost. The arguments match the
   * present store.
   */
  async compareRollBacks(model: StoreModel, { live, versions }: Boards): Promise<void> {
    for (const partition of this.#next.keys())
      for (const shard of this.#shards()) {
        const call = { ...this.idleCall(shard, partition), boards: live };
        if (call.believed <= model.partition(shard, partition).appliedOffset) continue;
        const continuity = (await this.#resync.continuity(shard)).token;
        const version = versions[shard] ?? '';
        const outcome = await this.store.apply({ ...call, continuity, version });
        expect(outcome).toEqual({ status: 'rolledBack' });
      }
  }

  /**
   * Brings each partition that has no record left below its published position to that position, by
   * calls without records.
   */
  async #reachPublished(): Promise<void> {
    for (const [partition, published] of this.#published.entries()) {
      if (this.#isBehind(partition)) continue;
      for (const shard of this.#shards()) {
        const call = { ...this.idleCall(shard, partition), through: published - 1 };
        if (call.from <= call.through) await this.#apply(call);
      }
    }
  }

  /**
   * Checks that the store refuses a run that skips records, also if the caller believes in no
   * applied offset.
   */
  async #expectGaps(partition: number, first: number): Promise<void> {
    const log = this.#log(partition);
    for (const shard of this.#shards()) {
      const call = this.#call(shard, partition, offsetAfter(log, first), log.slice(first));
      if (!this.model.leavesGap(call)) continue;
      for (const believed of [call.believed, -1])
        expect(await this.store.apply({ ...call, believed })).toEqual({ status: 'gap' });
    }
  }

  /** Checks that a shard that recovers refuses new records. */
  async #expectRefusal(partition: number): Promise<void> {
    for (const shard of this.#shards()) {
      const { from } = this.idleCall(shard, partition);
      const least = Math.max(from, this.#published[partition]!);
      const run = this.#log(partition).filter(({ offset }) => offset >= least);
      const call = this.#call(shard, partition, from, run);
      if (call.entries.length === 0 || !this.model.isRecovering(shard)) continue;
      expect(await this.store.apply(call)).toEqual({ status: 'recovering' });
    }
  }

  /** Whether records below the published position are left to apply. */
  #isBehind(partition: number): boolean {
    const next = this.#log(partition)[this.#next[partition]!];
    return next !== undefined && next.offset < this.#published[partition]!;
  }

  /**
   * Moves the published position by a share of what was applied and not yet published, and
   * publishes the results up to there.
   */
  #publish(partition: number, share: number): void {
    const from = this.#published[partition]!;
    const applied = offsetAfter(this.#log(partition), this.#next[partition]!);
    const to = from + Math.max(0, Math.floor((applied - from) * share));
    for (const { offset } of this.#log(partition))
      for (const shard of this.#shards())
        for (const verdict of this.model.partition(shard, partition).outbox)
          if (verdict.offset === offset && offset >= from && offset < to)
            this.parts.published(partition, verdict);
    this.#published[partition] = to;
  }

  /** A call with the records of a run that belong to a shard. */
  #call(shard: number, partition: number, from: number, run: readonly LogEntry[]): ApplyCall {
    const through = run.at(-1)?.offset ?? from - 1;
    const entries = run.filter((entry) => this.#isOf(shard, partition, entry));
    return { ...this.idleCall(shard, partition), from, through, entries };
  }

  async #apply(call: ApplyCall): Promise<void> {
    if (this.model.leavesGap(call)) throw new Error(`the call skips offsets before ${call.from}`);
    const outcome = await this.store.apply(call);
    if (outcome.status !== 'applied') throw new Error(`the call was refused: ${outcome.status}`);
    const isOpen = outcome.appliedOffset < call.through;
    if (isOpen) expect(outcome.verdicts).toEqual([]);
    this.#answers.compare(this, call, isOpen ? await this.#openVerdicts(call) : outcome.verdicts);
    const { appliedOffset } = this.model.partition(call.shard, call.partition);
    expect(outcome.appliedOffset).toBe(appliedOffset);
    await this.#compareUnpublished(call);
  }

  /** What the outbox has of player records that are not settled: no call returns it yet. */
  async #openVerdicts({ shard, partition, from, through }: ApplyCall): Promise<Verdict[]> {
    const { redis, keys } = this.parts;
    const stored = await redis.zrangeBuffer(keys.outbox(shard, partition), 0, -1);
    return parseVerdicts(stored).filter(({ offset }) => offset >= from && offset <= through);
  }

  async #compareUnpublished({ shard, partition }: ApplyCall): Promise<void> {
    const { redis, keys } = this.parts;
    const stored = await redis.zrangeBuffer(keys.outbox(shard, partition), 0, -1);
    const { outbox, published } = this.model.partition(shard, partition);
    const kept = await redis.hget(keys.published(shard), String(partition));
    expect(Number(kept)).toBe(published);
    const offsets = parseVerdicts(stored)
      .map(({ offset }) => offset)
      .filter((offset) => offset >= published);
    const sorted = (some: number[]) => some.sort((a, b) => a - b);
    expect(sorted(offsets)).toEqual(sorted(outbox.map(({ offset }) => offset)));
  }

  #shards(): number[] {
    return Array.from({ length: this.parts.shards }, (_, shard) => shard);
  }

  /** The records of a partition, resolved against the boards that are live now. */
  #log(partition: number): readonly LogEntry[] {
    return this.parts.log.live(partition, this.boards);
  }

  /**
   * Whether a call to a shard contains a record: to the shard of the board that the record names,
   * even if the board was removed; without such a board, to the home shard of the partition. A
   * record of kind `none` is in no call.
   */
  #isOf(shard: number, partition: number, entry: LogEntry): entry is ApplyEntry {
    if (entry.kind === 'none') return false;
    const board = this.parts.log.target(partition, entry.offset)?.board;
    const own = board === undefined ? this.store.homeShard(partition) : this.store.shardOf(board);
    return own === shard;
  }
}
