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
import type { ApplyStep } from './scenario.js';
import type { LiveOracle, StoreModel } from './store-model.js';

/** A record as it is applied now. Some have nothing to apply, and no result. */
export type LogEntry = ApplyEntry | { readonly kind: 'none'; readonly offset: number };

/** The store, and what a caller of it has. */
export interface LiveRunParts {
  readonly redis: Redis;
  readonly keys: KeySpace;
  readonly shards: number;
  readonly partitions: number;
  /** The records of a partition, by the boards as they are live now. */
  readonly log: (partition: number) => readonly LogEntry[];
  /** The board that a record names, whether there is one or not; undefined for what can't be read. */
  readonly boardOf: (partition: number, entry: LogEntry) => string | undefined;
  /** Hears of what is published of a partition, once. */
  readonly published: (partition: number, verdict: Verdict) => void;
}

interface Call {
  readonly shard: number;
  readonly partition: number;
  readonly run: readonly LogEntry[];
  /** Where the run begins: it has no record of the offsets from here to its first one. */
  readonly from: number;
  readonly stale: boolean;
}

type Current = ReadonlyMap<string, DefinitionRecord>;

export const NO_BOARDS: Boards = {
  live: new Map(),
  building: new Set(),
  removed: new Set(),
  versions: [],
};

/**
 * Live ingest, beside the model of the store: applies records, publishes what came of them, and compares every answer.
 *
 * States: in step with the store; recovery after Redis was lost, until every partition has been applied up to its published
 * position again: until then nothing beyond is applied anywhere.
 */
export class LiveRun<O extends LiveOracle = LiveOracle> {
  readonly store: BoardStore;
  boards: Boards = NO_BOARDS;
  readonly #resync: ContinuityStore;
  /** By partition, how many records have been applied in every shard. */
  readonly #next: number[];
  readonly #published: number[];
  /** The last version of each view, by `board view`. */
  readonly #versions = new Map<string, number>();
  /** The continuity of each shard. */
  #tokens: string[] = [];

  constructor(
    private readonly parts: LiveRunParts,
    public model: StoreModel<O>,
  ) {
    const { redis, keys, shards, partitions } = parts;
    this.store = new BoardStore(redis, keys, { shards });
    this.#resync = new ContinuityStore(redis, keys, { shards });
    this.#next = Array.from({ length: partitions }, () => 0);
    this.#published = [...this.#next];
  }

  /** The largest version that was published of a view, 0 for none. */
  version(board: string, view: string): number {
    return this.#versions.get(`${board} ${view}`) ?? 0;
  }

  /** How many records of a partition have been applied. */
  applied(partition: number): number {
    return this.#next[partition]!;
  }

  /** What this caller believes of the boards of a shard. */
  boardsOf(shard: number, boards = this.boards): Pick<ApplyCall, 'boards' | 'version'> {
    return { boards: boards.live, version: boards.versions[shard] ?? '' };
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
      ...this.boardsOf(shard),
      continuity: this.#tokens[shard] ?? '',
    };
  }

  /**
   * Compares the shards with the published positions, and with the live definitions; who believes in what was before
   * is refused from then on. `reset` hears of each shard first, and answers its boards whose promotions are lost.
   */
  async endResync(
    current: Current = new Map(),
    reset: (shard: number) => readonly string[] = () => [],
  ) {
    const old = this.#tokens;
    this.#tokens = [];
    const positions = new Map(this.#published.entries());
    for (let shard = 0; shard < this.parts.shards; shard++) {
      const begun = await this.#resync.beginResync(shard, await this.#resync.continuity(shard));
      const recovered = begun && (await this.#resync.endResync(shard, begun, positions, current));
      if (begun !== undefined) await this.#resync.release(begun);
      if (recovered === undefined) throw new Error(`shard ${shard} can't be compared`);
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

  /** Repeats records, goes on with some, and publishes a share of what was applied before. */
  async apply({ partition, size, back, skip, stale, publish }: ApplyStep): Promise<void> {
    this.#publish(partition, publish);
    const log = this.parts.log(partition);
    const next = this.#next[partition]!;
    const published = this.#published[partition]!;
    const recovering = this.#isRecovering();
    const unpublished = log.slice(0, next + size).findIndex(({ offset }) => offset >= published);
    const recovered = unpublished < 0 ? log.length : unpublished;
    const last = Math.min(
      log.length,
      next + size,
      recovering ? Math.max(next, recovered) : Infinity,
    );
    const first = Math.max(0, Math.min(last, next) - back);
    await this.#reachPublished();
    await this.#expectGaps(partition, next + skip);
    let from = offsetAfter(log, first);
    for (const run of splitAt(log.slice(first, last), published)) {
      for (let shard = 0; shard < this.parts.shards; shard++)
        await this.#call({ shard, partition, run, from, stale });
      from = (run.at(-1)?.offset ?? from - 1) + 1;
    }
    if (recovering) await this.#expectRefusal(partition);
    this.#next[partition] = Math.max(next, last);
  }

  /** Applies what is left, publishes all, and compares the applied offsets. */
  async applyAll(): Promise<void> {
    const rest = { kind: 'apply', back: 3, skip: 0, stale: false, publish: 1 } as const;
    const partitions = [...this.#next.keys()];
    for (let recovering = 0; recovering < 2; recovering++)
      for (const partition of partitions)
        await this.apply({ ...rest, partition, size: this.parts.log(partition).length });
    for (const partition of partitions) {
      await this.apply({ ...rest, partition, size: 0 });
      const last = offsetAfter(this.parts.log(partition), Infinity) - 1;
      const appliedOffsets = Array<number>(this.parts.shards).fill(last);
      expect(await this.store.appliedOffsets(partition)).toEqual(appliedOffsets);
    }
  }

  /** Removes the views of live boards that have expired. */
  async sweep(): Promise<void> {
    for (const live of this.boards.live.values()) {
      const gone = this.model.sweep(live.board);
      let removed = 0;
      for (let some = Infinity; some > 0; removed += some) some = await this.store.sweep(live);
      expect(removed).toBe(gone);
    }
  }

  /** Goes on from what the store still has. */
  forget(model: StoreModel<O>): void {
    this.model = model;
    for (const partition of this.#next.keys()) this.#next[partition] = this.#appliedBy(model, partition); // prettier-ignore
  }

  /** A caller who believes in an applied offset that is no more is told. `boards` are those of the `model` that the store has now. */
  async compareRollBacks(model: StoreModel<O>, boards: Boards): Promise<void> {
    for (const partition of this.#next.keys())
      for (let shard = 0; shard < this.parts.shards; shard++) {
        const believed = this.model.partition(shard, partition).appliedOffset;
        if (believed <= model.partition(shard, partition).appliedOffset) continue;
        const continuity = (await this.#resync.continuity(shard)).token;
        const call = { ...this.idleCall(shard, partition), believed, continuity };
        const outcome = await this.store.apply({ ...call, ...this.boardsOf(shard, boards) });
        expect(outcome).toEqual({ status: 'rolledBack' });
      }
  }

  /** Where no record is left below the published position, it has to be reached all the same. */
  async #reachPublished(): Promise<void> {
    for (const [partition, published] of this.#published.entries()) {
      const next = this.parts.log(partition)[this.#next[partition]!]?.offset ?? Infinity;
      if (next < published) continue;
      for (let shard = 0; shard < this.parts.shards; shard++) {
        const kept = this.model.partition(shard, partition);
        const through = published - 1;
        if (kept.appliedOffset >= through) continue;
        const outcome = await this.store.apply({ ...this.idleCall(shard, partition), through });
        expect(outcome).toEqual({ status: 'applied', appliedOffset: through, verdicts: [] });
        kept.appliedOffset = through;
        kept.published = Math.max(kept.published, published);
        kept.target = 0;
      }
    }
  }

  /** What is left of the log behind records that are left out is refused as a whole, whatever the caller believes. */
  async #expectGaps(partition: number, first: number): Promise<void> {
    const log = this.parts.log(partition);
    const [from, run] = [offsetAfter(log, first), log.slice(first)];
    for (let shard = 0; shard < this.parts.shards; shard++) {
      if (!this.model.leavesGap(shard, partition, from)) continue;
      const entries = run.filter((entry) => this.#isOf(shard, partition, entry));
      const through = run.at(-1)?.offset ?? from - 1;
      const call = { ...this.idleCall(shard, partition), from, entries, through };
      for (const believed of [call.believed, -1])
        expect(await this.store.apply({ ...call, believed })).toEqual({ status: 'gap' });
    }
  }

  /** While a shard recovers, nothing new is applied to it. */
  async #expectRefusal(partition: number): Promise<void> {
    const published = this.#published[partition]!;
    for (let shard = 0; shard < this.parts.shards; shard++) {
      const { appliedOffset } = this.model.partition(shard, partition);
      const entries = this.parts
        .log(partition)
        .filter((entry) => this.#isOf(shard, partition, entry))
        .filter(({ offset }) => offset >= Math.max(published, appliedOffset + 1));
      if (entries.length === 0 || !this.model.isRecovering(shard)) continue;
      const through = entries.at(-1)!.offset;
      const call = { ...this.idleCall(shard, partition), entries, through };
      expect(await this.store.apply(call)).toEqual({ status: 'recovering' });
    }
  }

  #isRecovering(): boolean {
    return [...this.#next].some(
      (next, partition) =>
        (this.parts.log(partition)[next]?.offset ?? Infinity) < this.#published[partition]!,
    );
  }

  /** Moves the published position by a share of what was applied; what lies between is published. */
  #publish(partition: number, share: number): void {
    const from = this.#published[partition]!;
    const applied = offsetAfter(this.parts.log(partition), this.#next[partition]!);
    const to = from + Math.max(0, Math.floor((applied - from) * share));
    for (const { offset } of this.parts.log(partition))
      for (let shard = 0; shard < this.parts.shards; shard++)
        for (const verdict of this.model.partition(shard, partition).outbox)
          if (verdict.offset === offset && offset >= from && offset < to)
            this.parts.published(partition, verdict);
    this.#published[partition] = to;
  }

  async #call({ shard, partition, stale, run, from }: Call): Promise<void> {
    const kept = this.model.partition(shard, partition);
    if (this.model.leavesGap(shard, partition, from)) throw new Error(`a gap before ${from}`);
    const request: ApplyCall = {
      ...this.idleCall(shard, partition),
      ...(stale ? { believed: -1, published: 0 } : {}),
      from,
      through: run.at(-1)?.offset ?? from - 1,
      entries: run.filter((entry) => this.#isOf(shard, partition, entry)),
    };
    const outcome = await this.store.apply(request);
    if (outcome.status !== 'applied') throw new Error(`the store answered ${outcome.status}`);
    this.#compareAnswer(request, outcome.verdicts);
    expect(outcome.appliedOffset).toBe(kept.appliedOffset);
    await this.#compareUnpublished(shard, partition);
  }

  /** Compares the verdicts of a call with those that it has to answer, and takes the new ones in. */
  #compareAnswer(
    { shard, partition, published, from, through, entries }: ApplyCall,
    answered: readonly Verdict[],
  ): void {
    const kept = this.model.partition(shard, partition);
    const { appliedOffset } = kept;
    kept.published = Math.max(kept.published, published);
    kept.appliedOffset = Math.max(appliedOffset, through);
    if (kept.appliedOffset + 1 >= kept.target) kept.target = 0;
    kept.outbox = kept.outbox.filter(({ offset }) => offset >= kept.published);
    expect(answered).toEqual(answered.toSorted(byOffset));
    const stored = kept.outbox.filter(({ offset }) => offset >= from && offset <= through);
    const old = answered.filter(({ offset }) => offset <= appliedOffset);
    expect(old.toSorted(byOffsetAndView)).toEqual(stored.toSorted(byOffsetAndView));
    const expected = this.model.judge(
      entries.filter(({ offset }) => offset > appliedOffset),
      { partition, muted: kept.appliedOffset < kept.published },
    );
    const fresh = answered.filter(({ offset }) => offset > appliedOffset);
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
    const { board } = this.#liveBoard(generation);
    if (fields.kind === 'leaderChange') return { ...fields, ...UNKNOWN, board };
    const changes = fields.changes.map((change) => ({ ...change, ...UNKNOWN }));
    return { ...fields, changes, board };
  }

  /** A call gives one version to all that it tells of a view, above those of earlier calls. */
  #takeVersions(verdicts: readonly Verdict[]): void {
    const versions = new Map<string, number>();
    for (const verdict of verdicts) {
      if (verdict.kind === 'deadLetter') continue;
      const { board } = this.#liveBoard(verdict.generation);
      for (const { view, version } of verdict.kind === 'leaderChange'
        ? [verdict]
        : verdict.changes) {
        const name = `${board} ${view}`;
        expect(version).toBe(versions.get(name) ?? version);
        expect(version).toBeGreaterThan(this.#versions.get(name) ?? 0);
        versions.set(name, version);
      }
      if (verdict.kind === 'leaderChange') this.model.report(board, verdict);
    }
    for (const [name, version] of versions) this.#versions.set(name, version);
  }

  async #compareUnpublished(shard: number, partition: number): Promise<void> {
    const { redis, keys } = this.parts;
    const stored = await redis.zrange(keys.outbox(shard, partition), 0, -1);
    const { outbox, published } = this.model.partition(shard, partition);
    const kept = await redis.hget(keys.published(shard), String(partition));
    expect(Number(kept)).toBe(published);
    const offsets = stored
      .flatMap((verdicts) => verdicts.split('\x1e'))
      .map((verdict) => Number.parseInt(verdict, 10))
      .filter((offset) => offset >= published)
      .sort((a, b) => a - b);
    expect(offsets).toEqual(outbox.map(({ offset }) => offset).sort((a, b) => a - b));
  }

  /** Shards may have lost different parts: records that one of them lacks come again for all. */
  #appliedBy(model: StoreModel<O>, partition: number): number {
    const shards = Array.from({ length: this.parts.shards }, (_, shard) => shard);
    const appliedOffset = Math.min(
      ...shards.map((shard) => model.partition(shard, partition).appliedOffset),
    );
    return this.parts.log(partition).filter(({ offset }) => offset <= appliedOffset).length;
  }

  #liveBoard(generation: string): LiveBoard {
    const found = [...this.boards.live.values()].find((live) => live.generation === generation);
    if (found === undefined) throw new Error(`no board has the generation ${generation}`);
    return found;
  }

  /** Whether there is something of a record to apply to a shard: one shard decides on it, whatever becomes of its board. */
  #isOf(shard: number, partition: number, entry: LogEntry): entry is ApplyEntry {
    if (entry.kind === 'none') return false;
    const board = this.parts.boardOf(partition, entry);
    const own = board === undefined ? this.store.homeShard(partition) : this.store.shardOf(board);
    return own === shard;
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

/** The offset after the first `count` records. */
export function offsetAfter(log: readonly LogEntry[], count: number): number {
  return (log.slice(0, count).at(-1)?.offset ?? -1) + 1;
}

/** A run as the calls it takes: none straddles the published position. An empty run is one call, too. */
function splitAt(run: readonly LogEntry[], published: number): (readonly LogEntry[])[] {
  const at = run.filter(({ offset }) => offset < published).length;
  return at === 0 || at === run.length ? [run] : [run.slice(0, at), run.slice(at)];
}
