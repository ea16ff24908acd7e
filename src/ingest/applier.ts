import { Injectable } from '@nestjs/common';
import pLimit from 'p-limit';
import {
  BoardStore,
  type ApplyCall,
  type Boards,
  type RecordIdentity,
  type Verdict,
} from '#board-store';
import { allOf } from '#errors';
import type { KafkaRecord, PartitionAssignment } from '#kafka-batch';
import { Metrics } from '../infra/metrics.js';
import { LiveBoards } from './live-boards.js';
import { PartitionWaits } from './partition-waits.js';
import { readRecord, withRecords, type ReadRecord, type RecordVerdict } from './read-record.js';
import { StoreChangedError, type ShardStates } from './resync.js';
import { recordIdentity } from './score-log.js';
import { settlingCalls, splitRuns, type BatchPosition, type Run } from './split-calls.js';

/** A run that was applied, with its verdicts in order of offsets. `through` is its last offset. */
export interface AppliedRun {
  readonly through: number;
  readonly items: readonly ReadRecord[];
  /** The boards against which the records were resolved. */
  readonly boards: Boards;
  /** Missing if the run has no record. */
  readonly lastRecord?: RecordIdentity | undefined;
  readonly verdicts: readonly RecordVerdict[];
}

/**
 * A run, and the boards against which its records were resolved. Its calls name the version of
 * these boards, even if this process has read newer boards since. If the boards have changed, the
 * script refuses the call.
 */
interface ReadRun extends Run<ReadRecord> {
  readonly boards: Boards;
  readonly lastRecord?: RecordIdentity | undefined;
}

interface ApplierServices {
  readonly store: BoardStore;
  readonly boards: LiveBoards;
  readonly waits: Pick<PartitionWaits, 'wait' | 'done'>;
  readonly metrics: Pick<Metrics, 'counters' | 'histograms'>;
}

/** How many attempts a run gets while the boards keep changing. Then the partition starts again. */
const MAX_BOARD_CHANGES = 5;

/** The boards changed during a start, or too often during one run: the partition starts again. */
const BOARDS_CHANGED = 'the live boards changed while events were applied';

@Injectable()
export class ApplierFactory {
  readonly #services: ApplierServices;

  constructor(store: BoardStore, boards: LiveBoards, waits: PartitionWaits, metrics: Metrics) {
    this.#services = { store, boards, waits, metrics };
  }

  /** Reads the boards and the applied offsets. `continuity` has the tokens of the shards. */
  async open(assignment: PartitionAssignment, continuity: readonly string[]): Promise<Applier> {
    const { store, boards } = this.#services;
    await boards.refresh();
    const appliedOffsets = await store.appliedOffsets(assignment.partition);
    return new Applier(this.#services, assignment, { appliedOffsets, continuity });
  }
}

/**
 * Applies the records of one partition to the boards, strictly in order. A run goes to all shards
 * of its records at the same time; each shard gets one call at a time. Before results are
 * published, `sendOffset` raises the applied offsets of shards without records. So a shard whose
 * applied offset is below the published position has lost events.
 */
export class Applier {
  readonly #continuity: readonly string[];
  /** By shard, as far as this process knows. */
  readonly #appliedOffsets: number[];
  /** By shard: runs its calls one after the other. */
  readonly #inTurn: readonly ReturnType<typeof pLimit>[];
  /** Every shard has applied its records up to this offset, the end of the last run. */
  #done = -1;

  constructor(
    private readonly services: ApplierServices,
    private readonly assignment: PartitionAssignment,
    stored: ShardStates,
  ) {
    this.#continuity = stored.continuity;
    this.#appliedOffsets = [...stored.appliedOffsets];
    this.#inTurn = stored.continuity.map(() => pLimit(1));
  }

  get appliedOffsets(): readonly number[] {
    return this.#appliedOffsets;
  }

  /**
   * Applies records in runs; applies a run only when the caller asks for it. If the live boards
   * change meanwhile, reads and splits the remaining records again, because a run may cost much
   * more on the new boards.
   * @throws StoreChangedError
   */
  async *apply(
    records: readonly KafkaRecord[],
    position: BatchPosition,
  ): AsyncGenerator<AppliedRun, void> {
    let { from } = position;
    for (let attempt = 1; attempt <= MAX_BOARD_CHANGES; attempt++) {
      const refused = yield* this.#applyRuns(records, { ...position, from });
      if (refused === undefined) return;

      if (refused > from) attempt = 1;
      from = refused;
      await this.services.boards.refresh();
    }
    throw new Error(BOARDS_CHANGED);
  }

  /**
   * The offset at which reading begins: the first one that a shard has not applied, or whose
   * results are not published. Records that were applied before change nothing; their results come
   * from the outbox.
   */
  async firstToRead(published: number, logStart: number): Promise<number> {
    const { store, boards } = this.services;
    const { partition } = this.assignment;
    // A shard without an applied offset begins at the log's start: nothing was ever read, or Redis
    // has lost the offset, and player records from before a board begins count, too.
    const needed = Math.min(published, boards.firstNeeded(partition));
    const next = this.#appliedOffsets.map((appliedOffset) => {
      if (appliedOffset >= 0) return Math.max(needed, appliedOffset + 1);
      return published === 0 ? logStart : Math.min(needed, logStart);
    });
    const offset = Math.min(published, ...next);

    // Offsets that were cut can be left out if they are applied and their results are published.
    const isCut = offset < logStart && Math.min(...next) >= logStart;
    if (!isCut) return offset;
    const hasUnpublished = await store.hasUnpublished(partition, logStart);
    return hasUnpublished ? offset : logStart;
  }

  /**
   * Prepares for records from `offset` on: raises lower applied offsets of shards to `offset` - 1.
   * These shards lack nothing, because the log, or every live board, begins at `offset`. Fails if
   * the live boards have changed, because a new one may need earlier events.
   * @throws StoreChangedError
   */
  async begin(offset: number, published: number): Promise<void> {
    this.#done = offset - 1;
    const boards = this.services.boards.current;
    for (const [shard, appliedOffset] of this.#appliedOffsets.entries()) {
      if (appliedOffset >= this.#done) continue;
      const run = { from: appliedOffset + 1, through: this.#done, items: [], boards };
      const verdicts = await this.#call(shard, run, published);
      if (verdicts === undefined) throw new Error(BOARDS_CHANGED);
    }
  }

  /**
   * Raises applied offsets below `through` to `through`: these shards had no records in between.
   * Can run at the same time as `apply`.
   * @throws StoreChangedError
   */
  sendOffset(through: number, published: number): Promise<void> {
    const isBehind = (shard: number) => this.#believed(shard) < through;
    return this.#callWithoutRecords(through, published, isBehind);
  }

  /**
   * Sends the published position to every shard. These calls also detect a loss or a new board.
   * @throws StoreChangedError
   */
  keepUp(published: number): Promise<void> {
    return this.#callWithoutRecords(this.#done, published, () => true);
  }

  /**
   * Applies the records from `from` on. If a run is refused because the boards have changed,
   * returns the first offset of this run.
   */
  async *#applyRuns(
    records: readonly KafkaRecord[],
    position: BatchPosition,
  ): AsyncGenerator<AppliedRun, number | undefined> {
    const boards = this.services.boards.current;
    const items = this.#read(records, position.from, boards);
    for (const run of splitRuns(items, { ...position, boards: boards.live })) {
      const applied = await this.#applyRun({ ...run, boards }, position.published);
      if (applied === undefined) return run.from;
      yield applied;
    }
    return undefined;
  }

  /** A generator, so that decoded records die young: collecting old garbage costs more. */
  *#read(records: readonly KafkaRecord[], from: number, boards: Boards): Generator<ReadRecord> {
    for (const record of records)
      if (record.offset >= from) yield readRecord(record, this.assignment.partition, boards);
  }

  /** Applies a run to all shards; returns undefined if the live boards have changed. */
  async #applyRun(run: ReadRun, published: number): Promise<AppliedRun | undefined> {
    const { through, items, boards } = run;
    const last = items.at(-1)?.record;
    const lastRecord = last === undefined ? undefined : recordIdentity(last);
    const verdicts = await this.#applyShards({ ...run, lastRecord }, published);
    if (verdicts === undefined) return undefined;

    this.#done = through;
    return { through, items, boards, lastRecord, verdicts: withRecords(verdicts, items) };
  }

  /** Returns the verdicts of all shards of a run; undefined if the boards have changed. */
  async #applyShards(run: ReadRun, published: number): Promise<Verdict[] | undefined> {
    const calls = [...this.#byShard(run.items)].map(([shard, items]) =>
      this.#call(shard, { ...run, items }, published),
    );

    const verdicts: Verdict[] = [];
    for (const found of await allOf(calls)) {
      if (found === undefined) return undefined;
      verdicts.push(...found);
    }
    return verdicts.sort((a, b) => a.offset - b.offset);
  }

  /**
   * Sends shards a run without records. Such a run fits any definition of the boards, so it is sent
   * again when they change.
   */
  async #callWithoutRecords(
    through: number,
    published: number,
    isCalled: (shard: number) => boolean,
  ): Promise<void> {
    for (let attempt = 1; attempt <= MAX_BOARD_CHANGES; attempt++) {
      const shards = [...this.#continuity.keys()].filter(isCalled);
      const boards = this.services.boards.current;
      const run = { from: through + 1, through, items: [], boards };
      const answers = await allOf(shards.map((shard) => this.#call(shard, run, published)));
      if (!answers.includes(undefined)) return;
      await this.services.boards.refresh();
    }
    throw new Error(BOARDS_CHANGED);
  }

  #call(shard: number, run: ReadRun, published: number) {
    const call = () => this.#applyWhole(this.#callOf(shard, run, published), run.items);
    const inTurn = this.#inTurn[shard] as ReturnType<typeof pLimit>;
    return inTurn(call).finally(() => this.services.waits.done(this.assignment, shard));
  }

  /** Returns undefined if the boards have changed. */
  async #applyWhole(
    call: ApplyCall,
    items: readonly ReadRecord[],
  ): Promise<readonly Verdict[] | undefined> {
    const verdicts = await this.#retryWhileRecovering(call, items);
    if (verdicts === undefined) return undefined;

    const isApplied = this.#believed(call.shard) >= call.through;
    return isApplied ? verdicts : this.#settle(call, items);
  }

  /**
   * Settles player records that the first call has marked: see lua/includes/settle.lua. Reads the
   * views after the mark, because from then on no event adds a banned player to another view.
   */
  async #settle(
    call: ApplyCall,
    items: readonly ReadRecord[],
  ): Promise<readonly Verdict[] | undefined> {
    const { lastRecord, ...common } = call;
    const records = call.entries.filter((entry) => entry.kind === 'player');
    const live = call.boards.get(records[0]?.board ?? '');
    if (live === undefined)
      throw new Error(`offset ${call.through} was not applied, and not refused`);

    const playerIds = records.map(({ playerId }) => playerId);
    const views = await this.services.store.viewsOfPlayers(live, playerIds);
    const verdicts: Verdict[] = [];
    let { from } = call;
    for (const { entries, isLast } of settlingCalls(records, views, live.definition)) {
      const lastOffset = entries.at(-1)?.offset ?? call.through;
      const isEnd = lastOffset === records.at(-1)?.offset;
      const through = isEnd ? call.through : lastOffset;
      const believed = this.#believed(call.shard);
      const part = { ...common, believed, from, through, entries, isLast };
      const settling = isEnd && lastRecord !== undefined ? { ...part, lastRecord } : part;
      const found = await this.#retryWhileRecovering(settling, items);
      if (found === undefined) return undefined;
      if (!isLast) continue;

      if (this.#believed(call.shard) < through)
        throw new Error(`the records from offset ${from} on are not marked any more`);
      verdicts.push(...found);
      from = through + 1;
    }
    return verdicts;
  }

  /** The applied offset of a shard as far as this process knows, -1 for none. */
  #believed(shard: number): number {
    return this.#appliedOffsets[shard] ?? -1;
  }

  async #retryWhileRecovering(
    call: ApplyCall,
    items: readonly ReadRecord[],
  ): Promise<readonly Verdict[] | undefined> {
    const { shard, continuity } = call;
    const { ranklog_apply_duration_seconds: roundTrips } = this.services.metrics.histograms;
    const lost = (why: string) => new StoreChangedError(shard, continuity, why);
    for (;;) {
      const outcome = await this.services.store.apply(call).finally(roundTrips.startTimer());
      switch (outcome.status) {
        case 'applied':
          this.#countRecords(items, call.believed, outcome.appliedOffset);
          this.#appliedOffsets[shard] = outcome.appliedOffset;
          return outcome.verdicts;
        case 'generationChanged':
          return undefined;
        case 'recovering':
          await this.services.waits.wait(this.assignment, shard);
          break;
        case 'rolledBack':
          throw lost(`has lost applied events of partition ${call.partition}`);
        case 'gap':
          throw await this.#gapError(call);
        case 'storeChanged':
          throw lost('is on another server, or was found to have lost events');
        default:
          throw new Error(`the apply script gave an unknown answer: ${JSON.stringify(outcome)}`);
      }
    }
  }

  /**
   * Counts only records that this call has applied. Records that were applied before are read again
   * only for their results, and a player record that is only marked is not applied yet.
   */
  #countRecords(items: readonly ReadRecord[], believed: number, applied: number): void {
    const { counters } = this.services.metrics;
    const events = new Map<string, number>();
    for (const { event, entry } of items) {
      if (event === undefined || entry.offset <= believed || entry.offset > applied) continue;

      const { board } = event;
      if (entry.kind === 'player' && 'kind' in event)
        counters.ranklog_player_records_total.inc({ board, kind: event.kind });
      if (entry.kind === 'event') events.set(board, (events.get(board) ?? 0) + 1);
      if (entry.kind === 'none' && entry.late !== undefined)
        counters.ranklog_late_events_total.inc({ board });
    }
    for (const [board, count] of events) counters.ranklog_events_total.inc({ board }, count);
  }

  /**
   * A call begins after the shard's applied offset: offsets between two calls had no record for it.
   */
  #callOf(shard: number, run: ReadRun, published: number): ApplyCall {
    const { from, through, items, lastRecord, boards } = run;
    const believed = this.#believed(shard);
    const isGap = from > this.#done + 1; // some offsets were not read: the shard refuses the call
    return {
      shard,
      partition: this.assignment.partition,
      believed,
      published,
      from: isGap ? from : Math.min(from, believed + 1),
      through,
      entries: items.flatMap(({ entry }) => (entry.kind === 'none' ? [] : [entry])),
      version: boards.versions[shard] ?? '',
      boards: boards.live,
      continuity: this.#continuity[shard] ?? '',
      ...(lastRecord === undefined ? {} : { lastRecord }),
    };
  }

  /**
   * The error for a run that begins too late. A new start of the partition reads the missing
   * offsets.
   */
  async #gapError({ shard, partition, from }: ApplyCall): Promise<Error> {
    const appliedOffsets = await this.services.store.appliedOffsets(partition);
    const expected = (appliedOffsets[shard] ?? -1) + 1;
    return new Error(
      `refused events of partition ${partition} from offset ${from} on, because those from ` +
        `offset ${expected} on are not applied yet; starting again`,
    );
  }

  /**
   * Groups records by the shard of the board that they name, even if there is no such board. A
   * record that can't be decoded goes to the partition's home shard. So the shard depends on the
   * record alone, and only one shard decides on the record. A run without records goes to the home
   * shard.
   */
  #byShard(items: readonly ReadRecord[]): Map<number, ReadRecord[]> {
    const { store } = this.services;
    const home = store.homeShard(this.assignment.partition);
    if (items.length === 0) return new Map([[home, []]]);

    const shards = new Map<number, ReadRecord[]>();
    for (const item of items) {
      const board = item.event?.board;
      const shard = board === undefined ? home : store.shardOf(board);
      const itemsOfShard = shards.get(shard);
      if (itemsOfShard === undefined) shards.set(shard, [item]);
      else itemsOfShard.push(item);
    }
    return shards;
  }
}
