import type { BoardEntry, Shadow, Stretch, AppliedOffset } from '#board-store';
import { CallWork, type CallLimits } from '../../ingest/split-calls.js';
import type { Counts } from './progress.js';

/** A catch-up call that the queue proposes. */
interface NextCall {
  readonly stretches: readonly Stretch[];
  /** Whether the call brings the shadow to the live applied offsets, as far as they are known. */
  readonly reachesLive: boolean;
  /** Whether the call reaches one of its limits. */
  readonly isFull: boolean;
}

/** The entries of one partition that are read but not known to be applied, in log order. */
class PartitionQueue {
  readonly #entries: BoardEntry[] = [];
  /** The live applied offset as last known; -1 for none. */
  live = -1;
  /** The last offset of the unanswered calls; `applied` if no call is unanswered. */
  #sent: number;
  /** The next call has the entries from index #begin, up to but not including index #end. */
  #begin = 0;
  #end = 0;

  /** `applied` is the applied offset of the shadow, `read` the last offset that was read. */
  constructor(
    public applied: number,
    public read: number,
  ) {
    this.#sent = applied;
  }

  get waiting(): number {
    return this.#entries.length;
  }

  /** The number of entries up to the live applied offset. */
  get countBelowLive(): number {
    return this.#countThrough(this.live);
  }

  add(entry: BoardEntry): void {
    if (entry.offset <= this.read) return;
    this.#entries.push(entry);
    this.read = entry.offset;
  }

  /** Notes the live applied offset. Returns whether it differs from before. */
  noteLive(live: number): boolean {
    const hasChanged = this.live !== live;
    this.live = live;
    return hasChanged;
  }

  /** Notes the applied offset of the shadow. Returns whether it has grown. */
  noteApplied(applied: number): boolean {
    const hasGrown = this.applied < applied;

    this.applied = Math.max(this.applied, applied);
    this.#sent = Math.max(this.#sent, this.applied);
    this.read = Math.max(this.read, applied);
    this.#entries.splice(0, this.#countThrough(applied));

    return hasGrown;
  }

  /** Notes an unanswered call up to `through`, but at most to the live applied offset. */
  send(through: number): void {
    const lastSent = Math.min(through, this.live);
    this.#sent = Math.max(this.#sent, lastSent);
  }

  /** Notes that no call is unanswered. */
  settle(): void {
    this.#sent = this.applied;
  }

  /** The first entry after the next call. */
  get #next(): BoardEntry | undefined {
    return this.#entries[this.#end];
  }

  /** The last offset that the next call covers. */
  get through(): number {
    return this.#next === undefined ? this.read : this.#next.offset - 1;
  }

  /** Whether the next call brings the shadow forward. */
  get isForward(): boolean {
    return Math.min(this.through, this.live) > this.#sent;
  }

  /** Begins the next call, without entries. */
  begin(): void {
    this.#begin = this.#countThrough(this.#sent);
    this.#end = this.#begin;
  }

  /** Adds the next entry to the call. Returns false if it does not fit, or is beyond `last`. */
  take(room: CallWork, last: number): boolean {
    const next = this.#next;
    if (next === undefined || next.offset > last) return false;
    if (!room.take(next)) return false;

    this.#end += 1;
    return true;
  }

  stretch(partition: number): Stretch {
    const entries = this.#entries.slice(this.#begin, this.#end);
    return { partition, from: this.#sent + 1, through: this.through, entries };
  }

  /** The number of entries up to the offset `last`. */
  #countThrough(last: number): number {
    const first = this.#entries.findIndex(({ offset }) => offset > last);
    return first < 0 ? this.#entries.length : first;
  }
}

/**
 * The log entries read for one shadow and not known to be applied. The script never takes a shadow
 * beyond the live applied offsets, so entries above them wait here.
 */
export class ShadowQueue {
  readonly #partitions = new Map<number, PartitionQueue>();

  /**
   * `begun`: the shadow's applied offset by partition. A partition without one begins at its start.
   */
  constructor(
    readonly shadow: Shadow,
    private readonly begun: ReadonlyMap<number, number>,
  ) {}

  /** The first offset that is not read yet. */
  position(partition: number): number {
    return this.#partition(partition).read + 1;
  }

  appliedOffsets(): [partition: number, applied: number][] {
    return [...this.#partitions].map(([partition, { applied }]) => [partition, applied]);
  }

  /** Whether the shadow needs more of a partition. */
  needs(partition: number): boolean {
    return this.position(partition) < this.#end(partition);
  }

  waiting(partition: number): number {
    return this.#partition(partition).waiting;
  }

  /** Whether entries of a partition can be applied now. */
  canApply(partition: number): boolean {
    return this.#partition(partition).countBelowLive > 0;
  }

  /** Adds an entry of the shadow's board, unless the shadow has it already or ends before it. */
  add(partition: number, entry: BoardEntry): void {
    if (entry.offset < this.#end(partition)) this.#partition(partition).add(entry);
  }

  /** Notes that all records before `nextOffset` are read. */
  advance(partition: number, nextOffset: number): void {
    const queue = this.#partition(partition);
    const end = Math.min(nextOffset, this.#end(partition));
    queue.read = Math.max(queue.read, end - 1);
  }

  /** Notes an unanswered call with these stretches; the next call continues after them. */
  send(stretches: readonly Stretch[]): void {
    for (const { partition, through } of stretches) this.#partition(partition).send(through);
  }

  /**
   * Makes the next call begin after the applied offsets. Call it when no call is unanswered, or
   * after one failed.
   */
  settle(): void {
    for (const queue of this.#partitions.values()) queue.settle();
  }

  /** Notes the offsets that a call has returned. Returns whether any offset differs from before. */
  note(appliedOffsets: ReadonlyMap<number, AppliedOffset>): boolean {
    let hasChanged = false;
    for (const [partition, { shadow, live }] of appliedOffsets) {
      const queue = this.#partition(partition);
      const hasNewLive = queue.noteLive(live);
      const hasGrown = queue.noteApplied(shadow);
      if (hasNewLive || hasGrown) hasChanged = true;
    }
    return hasChanged;
  }

  /** Notes the live applied offsets. Returns whether any of them differs from before. */
  noteLive(appliedOffsets: ReadonlyMap<number, number>): boolean {
    let hasChanged = false;
    for (const [partition, live] of appliedOffsets)
      if (this.#partition(partition).noteLive(live)) hasChanged = true;
    return hasChanged;
  }

  /**
   * Only for snapshots: whether all records before the shadow's ends are read and applied. Does not
   * compare applied offsets: if the log ends in transaction markers, the live applied offset may
   * not cover them yet.
   */
  get isAtEnds(): boolean {
    const ends = [...(this.shadow.ends ?? [])];
    return ends.every(([partition, end]) => {
      const { read, waiting } = this.#partition(partition);
      return read + 1 >= end && waiting === 0;
    });
  }

  /** The number of entries that could be applied now. */
  countBelowLive(): number {
    return [...this.#partitions.values()].reduce((sum, queue) => sum + queue.countBelowLive, 0);
  }

  /** Partitions that are not read up to their live applied offset. */
  behindLive(): { partition: number; live: number }[] {
    return [...this.#partitions]
      .filter(([, { read, live }]) => read < live)
      .map(([partition, { live }]) => ({ partition, live }));
  }

  /**
   * Offsets, not records. `total`: from the shadow's start to its ends, or to the live applied
   * offsets if it has no ends. `done`: how many of these are applied.
   */
  get progress(): Counts {
    let done = 0;
    let total = 0;
    for (const [partition, { applied, live }] of this.#partitions) {
      const start = this.shadow.starts?.get(partition) ?? 0;
      const target = this.shadow.ends === undefined ? live + 1 : this.#end(partition);
      total += Math.max(0, target - start);
      const reached = Math.min(applied + 1, target);
      done += Math.max(0, reached - start);
    }
    return { done, total };
  }

  /**
   * The next call: as many entries as fit, in equal shares for all partitions, up to the live
   * applied offsets. If all of them fit, entries beyond these offsets fill the call: the live
   * applied offsets may have grown when Redis runs it.
   */
  next(limits: CallLimits): NextCall {
    const queues = [...this.#partitions.values()];
    const room = new CallWork(new Map([[this.shadow.board, this.shadow]]), true, limits);

    for (const queue of queues) queue.begin();
    fill(queues, room, { beyondLive: false });
    const reachesLive = queues.every(({ through, live }) => through >= live);
    if (reachesLive) fill(queues, room, { beyondLive: true });

    const stretches = [...this.#partitions]
      .filter(([, queue]) => reachesLive || queue.isForward)
      .map(([partition, queue]) => queue.stretch(partition));
    return { reachesLive, isFull: room.isFull, stretches };
  }

  /** The offset where the shadow ends; Infinity without ends. */
  #end(partition: number): number {
    const { ends } = this.shadow;
    return ends === undefined ? Infinity : (ends.get(partition) ?? 0);
  }

  #partition(partition: number): PartitionQueue {
    const known = this.#partitions.get(partition);
    if (known !== undefined) return known;

    const before = (this.shadow.starts?.get(partition) ?? 0) - 1;
    const applied = this.begun.get(partition) ?? before;
    // After a rollback, the applied offset may lie before the start. Reading begins at the start.
    const queue = new PartitionQueue(applied, Math.max(applied, before));
    this.#partitions.set(partition, queue);
    return queue;
  }
}

/**
 * Takes entries of the queues in turn, up to their live applied offsets or beyond them, until the
 * room is full or none is left.
 */
function fill(
  queues: readonly PartitionQueue[],
  room: CallWork,
  { beyondLive }: { readonly beyondLive: boolean },
): void {
  let hasTaken: boolean;
  do {
    hasTaken = false;
    for (const queue of queues) {
      const last = beyondLive ? Infinity : queue.live;
      if (queue.take(room, last)) hasTaken = true;
    }
  } while (hasTaken);
}
