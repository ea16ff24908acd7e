import { expect } from '@jest/globals';
import type { Redis } from 'ioredis';
import {
  BoardStore,
  type ApplyCall,
  type ApplyEntry,
  type KeySpace,
  type LiveBoard,
  type Verdict,
} from '#board-store';
import { Oracle, type OracleBytes, type OracleVerdict } from './oracle.js';
import type { Scenario, Step } from './scenario.js';

type Entry = ApplyEntry;

/** What the store should hold of one partition in one shard. */
interface ShardPartition {
  watermark: number;
  published: number;
  /** Verdicts as the store first gave them, by offset. */
  readonly outbox: Map<number, Verdict>;
}

/**
 * Takes a scenario's logs to a store by one way, with the oracle beside it, and compares every answer.
 * After `finish` all records are applied and all keys have been compared.
 */
export class StoreRun {
  readonly #store: BoardStore;
  readonly #oracle: Oracle;
  readonly #logs: readonly (readonly Entry[])[];
  readonly #next: number[];
  readonly #published: number[];
  readonly #shards = new Map<string, ShardPartition>();
  readonly #versions = new Map<string, number>();
  #boards: ReadonlyMap<string, LiveBoard> = new Map();

  constructor(
    private readonly redis: Redis,
    private readonly keys: KeySpace,
    private readonly scenario: Scenario,
    private readonly shards: number,
  ) {
    this.#store = new BoardStore(redis, keys, { shards });
    this.#oracle = new Oracle(scenario.definitions);
    this.#logs = scenario.logs.map((_, partition) => entriesOf(scenario, partition));
    this.#next = this.#logs.map(() => 0);
    this.#published = this.#logs.map((log, partition) =>
      Math.floor(offsetAfter(log, log.length) * scenario.publishedBefore[partition]!),
    );
  }

  async prepare(): Promise<void> {
    await this.#store.claimShards();
    for (const definition of this.scenario.definitions) await this.#store.registerBoard(definition);
    this.#boards = await this.#store.liveBoards();
  }

  async step({ partition, size, back, stale, publish }: Step): Promise<void> {
    const log = this.#logs[partition]!;
    const next = this.#next[partition]!;
    const first = Math.max(0, next - back);
    const last = Math.min(log.length, next + size);
    const behind = this.#published[partition]!;
    const ahead = offsetAfter(log, next) - behind;
    this.#published[partition] = behind + Math.max(0, Math.floor(ahead * publish));
    const published = stale ? 0 : this.#published[partition];
    for (const run of splitAt(log.slice(first, last), published))
      for (let shard = 0; shard < this.shards; shard++)
        await this.#call({ shard, partition, published, run, stale });
    this.#next[partition] = Math.max(next, last);
  }

  /** Applies what is left, publishes all, and compares the keys. Answers the boards' bytes. */
  async finish(): Promise<Record<string, OracleBytes>> {
    const rest = { back: 3, stale: false, publish: 1 };
    for (const [partition, log] of this.#logs.entries()) {
      await this.step({ ...rest, partition, size: log.length });
      await this.#compareWatermark(partition);
    }
    return this.#compareBoards();
  }

  async #call(call: {
    shard: number;
    partition: number;
    published: number;
    run: readonly Entry[];
    stale: boolean;
  }): Promise<void> {
    const { shard, partition, published, run, stale } = call;
    const kept = this.#kept(shard, partition);
    const entries = run.filter((entry) => this.#shardOf(entry, partition) === shard);
    const through = run.at(-1)?.offset ?? kept.watermark;
    const believed = stale ? -1 : kept.watermark;
    const request: ApplyCall = {
      shard,
      partition,
      believed,
      published,
      through,
      entries,
      boards: new Map([...this.#boards].filter(([board]) => this.#store.shardOf(board) === shard)),
    };
    const outcome = await this.#store.apply(request);
    if (outcome.status !== 'applied') throw new Error(`the store answered ${outcome.status}`);
    kept.published = Math.max(kept.published, published);
    const expected = this.#expected(kept, entries, outcome.verdicts);
    expect(outcome.verdicts).toEqual(expected);
    kept.watermark = Math.max(kept.watermark, through);
    expect(outcome.watermark).toBe(kept.watermark);
    for (const offset of kept.outbox.keys())
      if (offset < kept.published) kept.outbox.delete(offset);
    await this.#compareOutbox(shard, partition, kept);
  }

  /** Verdicts that a call has to answer. New ones take their versions from the answer, once these are checked. */
  #expected(
    kept: ShardPartition,
    entries: readonly Entry[],
    answered: readonly Verdict[],
  ): Verdict[] {
    const versions = new Map<string, number>();
    const expected = entries.flatMap((entry): Verdict[] => {
      const { offset } = entry;
      if (offset <= kept.watermark) {
        const stored = offset < kept.published ? undefined : kept.outbox.get(offset);
        return stored === undefined ? [] : [stored];
      }
      const given = answered.find((verdict) => verdict.offset === offset);
      const verdict = this.#newVerdict(entry, given, versions);
      if (verdict === undefined || offset < kept.published) return [];
      kept.outbox.set(offset, verdict);
      return [verdict];
    });
    for (const [view, version] of versions) this.#versions.set(view, version);
    return expected;
  }

  #newVerdict(
    entry: Entry,
    given: Verdict | undefined,
    versions: Map<string, number>,
  ): Verdict | undefined {
    if (entry.kind === 'deadLetter') return entry;
    const verdict: OracleVerdict = this.#oracle.apply(entry.board, entry.event);
    if (verdict === undefined) return undefined;
    const { offset } = entry;
    if (verdict.kind === 'deadLetter')
      return { ...verdict, offset, detail: expect.any(String) as unknown as string };
    const changes = verdict.changes.map((change, index) => ({
      ...change,
      version: this.#version(`${entry.board} ${change.view}`, given, index, versions),
    }));
    return {
      kind: 'rankChange',
      offset,
      generation: this.#boards.get(entry.board)!.generation,
      changes,
    };
  }

  /** The version that the store gave: one for all changes of a view in a call, above those of earlier calls. */
  #version(
    view: string,
    given: Verdict | undefined,
    index: number,
    versions: Map<string, number>,
  ): number {
    const version = given?.kind === 'rankChange' ? (given.changes[index]?.version ?? NaN) : 0;
    if (given === undefined) return version;
    expect(version).toBe(versions.get(view) ?? version);
    expect(version).toBeGreaterThan(this.#versions.get(view) ?? 0);
    versions.set(view, version);
    return version;
  }

  async #compareOutbox(shard: number, partition: number, kept: ShardPartition): Promise<void> {
    const stored = await this.redis.zrange(this.keys.outbox(shard, partition), 0, -1, 'WITHSCORES');
    const offsets = stored.filter((_, index) => index % 2 === 1).map(Number);
    expect(offsets).toEqual([...kept.outbox.keys()]);
  }

  async #compareWatermark(partition: number): Promise<void> {
    const last = offsetAfter(this.#logs[partition]!, Infinity) - 1;
    expect(await this.#store.watermarks(partition)).toEqual(Array(this.shards).fill(last));
  }

  async #compareBoards(): Promise<Record<string, OracleBytes>> {
    const bytes: Record<string, OracleBytes> = {};
    for (const { board, generation } of this.#boards.values()) {
      const shard = this.#store.shardOf(board);
      const versions = await this.redis.hgetall(this.keys.views(shard, generation));
      expect(Object.keys(versions).sort()).toEqual(this.#oracle.views(board));
      for (const view of this.#oracle.views(board)) {
        const found = await readBytes(this.redis, this.keys, { shard, generation, view });
        expect(found).toEqual(this.#oracle.bytes(board, view));
        bytes[`${board} ${view}`] = found;
      }
    }
    return bytes;
  }

  #shardOf(entry: Entry, partition: number): number {
    return entry.kind === 'event'
      ? this.#store.shardOf(entry.board)
      : this.#store.homeShard(partition);
  }

  #kept(shard: number, partition: number): ShardPartition {
    const name = `${shard}/${partition}`;
    let kept = this.#shards.get(name);
    if (kept === undefined) {
      kept = { watermark: -1, published: 0, outbox: new Map() };
      this.#shards.set(name, kept);
    }
    return kept;
  }
}

/** A view as Redis has it: ZRANGE WITHSCORES and HGETALL, in bytes. */
async function readBytes(
  redis: Redis,
  keys: KeySpace,
  { shard, generation, view }: { shard: number; generation: string; view: string },
): Promise<OracleBytes> {
  const ranking = await redis.zrangeBuffer(
    keys.ranking(shard, generation, view),
    0,
    -1,
    'WITHSCORES',
  );
  const players = await redis.hgetall(keys.players(shard, generation, view));
  const pairs = ranking.flatMap((member, index) =>
    index % 2 === 0
      ? [{ score: String(Number(ranking[index + 1]!.toString())), member: member.toString('hex') }]
      : [],
  );
  return { ranking: pairs, players };
}

/** The records of a partition with their offsets; gaps stand for control records. */
function entriesOf({ logs, definitions }: Scenario, partition: number): Entry[] {
  let offset = -1;
  return logs[partition]!.map(({ gap, ...record }) => {
    offset += gap + 1;
    return record.kind === 'event'
      ? { kind: 'event', offset, board: definitions[record.board]!.board, event: record.event }
      : { ...record, offset };
  });
}

/** The offset after the first `count` entries. */
function offsetAfter(log: readonly Entry[], count: number): number {
  return (log.slice(0, count).at(-1)?.offset ?? -1) + 1;
}

/** A run as the calls it takes: none straddles the published position. An empty run is one call, too. */
function splitAt(run: readonly Entry[], published: number): (readonly Entry[])[] {
  const at = run.filter(({ offset }) => offset < published).length;
  return at === 0 || at === run.length ? [run] : [run.slice(0, at), run.slice(at)];
}
