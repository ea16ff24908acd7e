import type { ApplyCall, BoardStore, Boards, RecordIdentity, Verdict } from '#board-store';
import type { KafkaRecord } from '#kafka-batch';
import type { LiveBoards } from './live-boards.js';
import { identityOf } from './score-log.js';
import { StoreChangedError } from './resync.js';
import type { Waiter } from './partition-waits.js';
import { readRecord, type ReadRecord } from './read-record.js';
import { splitRuns, type BatchPosition, type Run } from './split-calls.js';

/** What became of the records of one run: verdicts and the records that they are about. */
export interface AppliedRun {
  readonly through: number;
  readonly verdicts: readonly { readonly verdict: Verdict; readonly read: ReadRecord }[];
}

/**
 * A run, and the boards that its records were read against. Its calls name the version of these boards, even if this process
 * has read newer ones since. The script refuses a call when the boards have changed.
 */
interface ReadRun extends Run<ReadRecord> {
  readonly boards: Boards;
  readonly lastRecord?: RecordIdentity;
}

/** What Redis said of a partition when it was started. */
export interface ApplierStart {
  /** By shard. */
  readonly appliedOffsets: readonly number[];
  readonly continuity: readonly string[];
  /** Where reading begins. */
  readonly offset: number;
}

/** How often a run is read again because its boards changed under it, before the partition is started anew. */
const MOST_BOARD_CHANGES = 5;

/** The live boards change all the time. Trying again helps. */
class BoardsChangedError extends Error {
  constructor() {
    super('the live boards changed while events were applied');
    this.name = 'BoardsChangedError';
  }
}

/** A run begins beyond the applied offset + 1. A new start reads the offsets in between. */
export class AppliedGapError extends Error {
  constructor(partition: number, found: number, expected: number) {
    super(
      `refused events of partition ${partition} from offset ${found} on, because those from offset ${expected} on are not applied yet; ` +
        `reading again from offset ${expected}`,
    );
    this.name = 'AppliedGapError';
  }
}

/**
 * Applies the records of one partition to the boards, strictly in order, one call at a time. Every run goes to every shard,
 * so an applied offset below the published position is a sign of a loss.
 */
export class Applier {
  private readonly store: BoardStore;
  private readonly boards: LiveBoards;
  readonly #continuity: readonly string[];
  /** The applied offset of each shard, as far as this process knows. */
  readonly #appliedOffsets: number[];
  /** The last offset that has been read and applied in every shard. */
  #done: number;

  constructor(
    { store, boards }: { readonly store: BoardStore; readonly boards: LiveBoards },
    private readonly partition: number,
    start: ApplierStart,
    private readonly waiter: Waiter,
  ) {
    this.store = store;
    this.boards = boards;
    this.#continuity = start.continuity;
    this.#appliedOffsets = [...start.appliedOffsets];
    this.#done = start.offset - 1;
  }

  /** The first offset that is not applied yet. */
  get next(): number {
    return this.#done + 1;
  }

  /** Applies records in runs, each handed to `onApplied` before the next one is begun. @throws StoreChangedError */
  async apply(
    records: readonly KafkaRecord[],
    position: BatchPosition,
    onApplied: (run: AppliedRun) => Promise<void>,
  ): Promise<void> {
    const boards = this.boards.current;
    const items = records.map((record) => readRecord(record, this.partition, boards));
    for (const run of splitRuns(items, { ...position, boards: boards.live })) {
      const last = run.items.at(-1);
      const lastRecord = last === undefined ? {} : { lastRecord: identityOf(last.record) };
      await onApplied(await this.#applyRun({ ...run, ...lastRecord, boards }, position.published));
    }
  }

  /**
   * Moves the applied offset of each shard that is behind the start of reading: it needs nothing before, because the log or all
   * its boards begin there. A board made live since may need more, so a change of boards starts the partition anew.
   * @throws StoreChangedError
   */
  async begin(published: number): Promise<void> {
    const boards = this.boards.current;
    for (const [shard, appliedOffset] of this.#appliedOffsets.entries()) {
      if (appliedOffset >= this.#done) continue;
      const run = { from: appliedOffset + 1, through: this.#done, items: [], boards };
      if ((await this.#call(shard, run, published)) === undefined) throw new BoardsChangedError();
    }
  }

  /** Tells every shard where the partition stands, and so notices a loss or a new board. @throws StoreChangedError */
  async keepUp(published: number): Promise<void> {
    for (const shard of this.#continuity.keys()) await this.#keepUpIn(shard, published);
  }

  async #keepUpIn(shard: number, published: number): Promise<void> {
    for (let attempt = 0; attempt < MOST_BOARD_CHANGES; attempt++) {
      const { current: boards } = this.boards;
      const run = { from: this.next, through: this.#done, items: [], boards };
      if ((await this.#call(shard, run, published)) !== undefined) return;
      await this.boards.refresh();
    }
    throw new BoardsChangedError();
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
      const items = run.items.map(({ record }) => readRecord(record, this.partition, boards));
      run = { ...run, boards, items };
    }
    throw new BoardsChangedError();
  }

  /** Verdicts of all shards; undefined when a generation is no longer live. */
  async #applyShards(run: ReadRun, published: number): Promise<Verdict[] | undefined> {
    const verdicts: Verdict[] = [];
    const shards = this.#byShard(run.items);
    for (const shard of this.#continuity.keys()) {
      const items = shards.get(shard) ?? [];
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
    const call = this.#callOf(shard, run, published);
    try {
      return await this.#ask(call);
    } finally {
      this.waiter.over();
    }
  }

  /** Asks again while the partition has to wait. */
  async #ask(call: ApplyCall): Promise<readonly Verdict[] | undefined> {
    const { shard, continuity } = call;
    const lost = (why: string) => new StoreChangedError(shard, continuity, why);
    for (;;) {
      const outcome = await this.store.apply(call);
      switch (outcome.status) {
        case 'applied':
          this.#appliedOffsets[shard] = outcome.appliedOffset;
          return outcome.verdicts;
        case 'generationChanged':
          return undefined;
        case 'recovering':
          await this.waiter.moment();
          break;
        case 'rolledBack':
          throw lost(`has lost applied events of partition ${this.partition}`);
        case 'gap':
          throw await this.#gapError(call);
        case 'storeChanged':
          throw lost('is on another server, or was found to have lost events');
      }
    }
  }

  #callOf(shard: number, run: ReadRun, published: number): ApplyCall {
    const { from, through, items, lastRecord } = run;
    return {
      shard,
      partition: this.partition,
      believed: this.#appliedOffsets[shard] ?? -1,
      published,
      from,
      through,
      entries: items.flatMap(({ entry }) => (entry.kind === 'none' ? [] : [entry])),
      version: run.boards.versions[shard] ?? '',
      boards: run.boards.live,
      continuity: this.#continuity[shard] ?? '',
      ...(lastRecord === undefined ? {} : { lastRecord }),
    };
  }

  async #gapError({ shard, partition, from }: ApplyCall): Promise<AppliedGapError> {
    const appliedOffsets = await this.store.appliedOffsets(partition);
    return new AppliedGapError(partition, from, (appliedOffsets[shard] ?? -1) + 1);
  }

  /**
   * A run's records by the shard that they belong to: that of the board that they name, whether there is one or not; what
   * can't be read goes to the partition's home shard. So it depends on the record alone: whatever becomes of the boards
   * meanwhile, one shard decides on it, once.
   */
  #byShard(items: readonly ReadRecord[]): Map<number, ReadRecord[]> {
    const shards = new Map<number, ReadRecord[]>();
    for (const item of items) {
      const { event } = item;
      const shard =
        event === undefined
          ? this.store.homeShard(this.partition)
          : this.store.shardOf(event.board);
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
