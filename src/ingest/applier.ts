import type { ApplyCall, BoardStore, LiveBoard, Verdict } from '#board-store';
import type { KafkaRecord } from '#kafka-batch';
import type { LiveBoards } from './live-boards.js';
import { readRecord, type ReadRecord } from './read-record.js';
import { splitRuns, type Run } from './split-calls.js';

/** Redis has lost acknowledged writes: the partition must be read again from what Redis still has. Trying again helps. */
export class RolledBackError extends Error {
  constructor(shard: number, partition: number) {
    super(
      `Redis has lost applied events of partition ${partition} in shard ${shard}; reading them again`,
    );
    this.name = 'RolledBackError';
  }
}

/** What became of the records of one run: verdicts and the records that they are about. */
export interface AppliedRun {
  readonly through: number;
  readonly verdicts: readonly { readonly verdict: Verdict; readonly read: ReadRecord }[];
}

/**
 * A run as it was read against these boards. Its calls name them and no others: what is live by then, another partition
 * may have changed, and then the script has to refuse them.
 */
interface ReadRun extends Run<ReadRecord> {
  readonly boards: ReadonlyMap<string, LiveBoard>;
}

/** How often a run is read again because its boards changed under it, before the partition is started anew. */
const MOST_BOARD_CHANGES = 5;

/** Applies the records of one partition to the boards, strictly in order, one call at a time. */
export class Applier {
  /** The watermark of each shard, as far as this process knows. */
  readonly #watermarks: number[];
  /** The last offset that has been read and applied in every shard that it concerns. */
  #done: number;

  constructor(
    private readonly store: BoardStore,
    private readonly boards: LiveBoards,
    private readonly partition: number,
    start: { watermarks: readonly number[]; offset: number },
  ) {
    this.#watermarks = [...start.watermarks];
    this.#done = start.offset - 1;
  }

  /** Applies records in runs, each handed to `onApplied` before the next one is begun. @throws RolledBackError */
  async apply(
    records: readonly KafkaRecord[],
    position: { published: number; nextOffset: number },
    onApplied: (run: AppliedRun) => Promise<void>,
  ): Promise<void> {
    const boards = this.boards.current;
    const items = records.map((record) => readRecord(record, boards));
    for (const run of splitRuns(items, { ...position, boards }))
      await onApplied(await this.#applyRun({ ...run, boards }, position.published));
  }

  /** Brings shards that had nothing to apply up to the others, and notices a loss or a new board. @throws RolledBackError */
  async keepUp(published: number): Promise<void> {
    for (let shard = 0; shard < this.#watermarks.length; shard++) {
      const run = { through: this.#done, items: [], boards: this.boards.current };
      if ((await this.#call(shard, run, published)) === undefined) await this.boards.refresh();
    }
  }

  async #applyRun(first: ReadRun, published: number): Promise<AppliedRun> {
    const { through } = first;
    let run = first;
    for (let attempt = 0; attempt < MOST_BOARD_CHANGES; attempt++) {
      const verdicts = await this.#applyShards(run, published);
      if (verdicts !== undefined) {
        this.#done = through;
        return { through, verdicts: pair(verdicts, run.items) };
      }
      await this.boards.refresh();
      const boards = this.boards.current;
      run = { through, boards, items: run.items.map(({ record }) => readRecord(record, boards)) };
    }
    throw new Error(
      `the live boards changed ${MOST_BOARD_CHANGES} times while one run was applied`,
    );
  }

  /** Verdicts of all shards that the run touches; undefined when a generation is no longer live. */
  async #applyShards(run: ReadRun, published: number): Promise<Verdict[] | undefined> {
    const verdicts: Verdict[] = [];
    for (const [shard, items] of this.#byShard(run.items)) {
      const found = await this.#call(shard, { ...run, items }, published);
      if (found === undefined) return undefined;
      verdicts.push(...found);
    }
    return verdicts;
  }

  async #call(
    shard: number,
    run: ReadRun,
    published: number,
  ): Promise<readonly Verdict[] | undefined> {
    const call: ApplyCall = {
      shard,
      partition: this.partition,
      believed: this.#watermarks[shard] ?? -1,
      published,
      through: run.through,
      entries: run.items.map(({ entry }) => entry),
      boards: this.#inShard(shard, run.boards),
    };
    const outcome = await this.store.apply(call);
    if (outcome.status === 'generationChanged') return undefined;
    if (outcome.status === 'rolledBack') throw new RolledBackError(shard, this.partition);
    this.#watermarks[shard] = outcome.watermark;
    return outcome.verdicts;
  }

  #inShard(shard: number, boards: ReadonlyMap<string, LiveBoard>): ReadonlyMap<string, LiveBoard> {
    if (this.store.shards === 1) return boards;
    return new Map([...boards].filter(([board]) => this.store.shardOf(board) === shard));
  }

  /** A run's records by the shard that they belong to; records of no board go to the partition's home shard. */
  #byShard(items: readonly ReadRecord[]): Map<number, ReadRecord[]> {
    const shards = new Map<number, ReadRecord[]>();
    for (const item of items) {
      const { entry } = item;
      const shard =
        entry.kind === 'event'
          ? this.store.shardOf(entry.board)
          : this.store.homeShard(this.partition);
      const found = shards.get(shard);
      if (found === undefined) shards.set(shard, [item]);
      else found.push(item);
    }
    return shards;
  }
}

function pair(verdicts: readonly Verdict[], items: readonly ReadRecord[]) {
  const byOffset = new Map(items.map((item) => [item.record.offset, item]));
  return verdicts
    .flatMap((verdict) => {
      const read = byOffset.get(verdict.offset);
      return read === undefined ? [] : [{ verdict, read }];
    })
    .sort((a, b) => a.verdict.offset - b.verdict.offset);
}
