import type { EventEntry, Shadow, Stretch, AppliedOffset } from '#board-store';
import { CallWork, type CallLimits } from '../ingest/split-calls.js';

/** The next call for a shadow. */
export interface NextCall {
  readonly stretches: readonly Stretch[];
  /** Whether the call brings the shadow to the live applied offsets, as far as they are known. */
  readonly isNear: boolean;
  /** Whether the call reaches its limits. */
  readonly isFull: boolean;
}

/** The entries of one partition that were read and are not known to be applied, in the order of the log. */
class PartitionQueue {
  readonly #entries: EventEntry[] = [];
  /** The live applied offset as last reported; -1 for none. */
  live = -1;
  /** The last offset in the shadow. */
  #applied: number;
  /** The last offset of the calls in flight. */
  #sent: number;
  /** The last offset that was read. */
  #read: number;

  constructor(applied: number) {
    this.#applied = applied;
    this.#sent = applied;
    this.#read = applied;
  }

  get applied(): number {
    return this.#applied;
  }

  get read(): number {
    return this.#read;
  }

  /** The first offset of the next stretch. */
  get next(): number {
    return this.#sent + 1;
  }

  /** The number of entries, including those in flight. */
  get waiting(): number {
    return this.#entries.length;
  }

  get hasBelowLive(): boolean {
    return (this.#entries[0]?.offset ?? Infinity) <= this.live;
  }

  /** Entries that are not in flight and lie up to the live applied offset. */
  get countBelowLive(): number {
    return Math.max(0, this.#countThrough(this.live) - this.#countThrough(this.#sent));
  }

  /** The entries that are not in flight. */
  unsent(): readonly EventEntry[] {
    return this.#entries.slice(this.#countThrough(this.#sent));
  }

  add(entry: EventEntry): void {
    if (entry.offset <= this.#read) return;
    this.#entries.push(entry);
    this.#read = entry.offset;
  }

  advance(nextOffset: number): void {
    this.#read = Math.max(this.#read, nextOffset - 1);
  }

  /** A call in flight brings the shadow to `through`, or to the live applied offset as far as that is known. */
  send(through: number): void {
    this.#sent = Math.max(this.#sent, Math.min(through, this.live));
  }

  unsend(): void {
    this.#sent = this.#applied;
  }

  /** Returns whether either offset differs from before. */
  note(applied: number, live: number): boolean {
    const hasChanged = this.live !== live || this.#applied < applied;
    this.live = live;
    this.#applied = Math.max(this.#applied, applied);
    this.#sent = Math.max(this.#sent, applied);
    this.#read = Math.max(this.#read, applied);
    this.#entries.splice(0, this.#countThrough(applied));
    return hasChanged;
  }

  /** How many entries lie at or before an offset. */
  #countThrough(offset: number): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#entries[middle]?.offset ?? Infinity) <= offset) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/**
 * What was read of the log for one shadow and is not known to be applied. The script never takes a shadow beyond the live
 * applied offsets, so entries above them wait here.
 */
export class ShadowQueue {
  readonly #partitions = new Map<number, PartitionQueue>();

  /** `begun` are the applied offsets of the shadow; a partition without one begins where the shadow does. */
  constructor(
    readonly shadow: Shadow,
    private readonly begun: ReadonlyMap<number, number>,
  ) {}

  /** The first offset that is not read yet. */
  position(partition: number): number {
    return this.#partition(partition).read + 1;
  }

  /** The last offset in the shadow, by partition. */
  appliedOffsets(): [partition: number, applied: number][] {
    return [...this.#partitions].map(([partition, { applied }]) => [partition, applied]);
  }

  /** Whether the shadow needs more of a partition. */
  needs(partition: number): boolean {
    return this.position(partition) < this.#end(partition);
  }

  /** The number of entries of a partition. */
  waiting(partition: number): number {
    return this.#partition(partition).waiting;
  }

  /** Whether entries of a partition can be applied now. */
  canApply(partition: number): boolean {
    return this.#partition(partition).hasBelowLive;
  }

  /** Adds an event of the shadow's board, unless the shadow has it already or ends before it. */
  add(partition: number, entry: EventEntry): void {
    if (entry.offset < this.#end(partition)) this.#partition(partition).add(entry);
  }

  /** All records before `nextOffset` are read. */
  advance(partition: number, nextOffset: number): void {
    this.#partition(partition).advance(Math.min(nextOffset, this.#end(partition)));
  }

  /** A call with these stretches is in flight; the next one continues behind them. */
  send(stretches: readonly Stretch[]): void {
    for (const { partition, through } of stretches) this.#partition(partition).send(through);
  }

  /** The outcome of the calls in flight is unknown: the next call begins behind the last known applied offset. */
  unsend(): void {
    for (const queue of this.#partitions.values()) queue.unsend();
  }

  /** Takes the outcome of a call. Returns whether any offset differs from before. */
  note(appliedOffsets: ReadonlyMap<number, AppliedOffset>): boolean {
    const changes = [...appliedOffsets].map(([partition, { shadow, live }]) =>
      this.#partition(partition).note(shadow, live),
    );
    return changes.includes(true);
  }

  /** Takes the live applied offsets. Returns whether one differs from before. */
  noteLive(appliedOffsets: ReadonlyMap<number, number>): boolean {
    const changes = [...appliedOffsets].map(([partition, live]) => {
      const queue = this.#partition(partition);
      return queue.note(queue.applied, live);
    });
    return changes.includes(true);
  }

  /**
   * `snapshot` only: whether all records up to its ends are applied. The log may end in transaction markers that the live
   * applied offset does not cover yet.
   */
  get isAtEnds(): boolean {
    return [...(this.shadow.ends ?? [])].every(([partition, end]) => {
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

  /** Records from the start of the shadow to the live applied offsets, or to its ends. */
  get progress(): { readonly done: number; readonly total: number } {
    let [done, total] = [0, 0];
    for (const [partition, { applied, live }] of this.#partitions) {
      const start = this.shadow.starts?.get(partition) ?? 0;
      const target = this.shadow.ends === undefined ? live + 1 : this.#end(partition);
      total += Math.max(0, target - start);
      done += Math.max(0, Math.min(applied + 1, target) - start);
    }
    return { done, total };
  }

  /**
   * The next call: of every partition the entries up to its live applied offset, as many as fit, in equal shares. If these
   * all fit, entries read ahead fill the rest, since the live applied offsets move on meanwhile.
   */
  next(limits: CallLimits): NextCall {
    const cuts = [...this.#partitions].map(([partition, queue]) => new Cut(partition, queue));
    const room = new CallWork(new Map([[this.shadow.board, this.shadow]]), true, limits);
    share(cuts, room, (cut) => cut.hasBelowLive);
    const isNear = cuts.every((cut) => cut.isAtLive);
    if (isNear) share(cuts, room, (cut) => cut.hasMore);
    const brought = isNear ? cuts : cuts.filter((cut) => cut.isForward);
    return { isNear, isFull: room.isFull, stretches: brought.map((cut) => cut.stretch()) };
  }

  #end(partition: number): number {
    const { ends } = this.shadow;
    return ends === undefined ? Infinity : (ends.get(partition) ?? 0);
  }

  #partition(partition: number): PartitionQueue {
    const known = this.#partitions.get(partition);
    if (known !== undefined) return known;
    const before = (this.shadow.starts?.get(partition) ?? 0) - 1;
    const queue = new PartitionQueue(this.begun.get(partition) ?? before);
    this.#partitions.set(partition, queue);
    return queue;
  }
}

/** Gives every cut that wants more an equal share of the room, until the room is full or no cut wants more. */
function share(cuts: readonly Cut[], room: CallWork, wants: (cut: Cut) => boolean): void {
  let wanting = cuts.filter(wants);
  while (wanting.length > 0 && !room.isFull) {
    const each = Math.max(1, Math.floor(room.entriesLeft / wanting.length));
    for (const cut of wanting)
      for (let taken = 0; taken < each && wants(cut); taken++) if (!cut.take(room)) return;
    wanting = wanting.filter(wants);
  }
}

/** The first entries of a partition, as a stretch in the making. */
class Cut {
  readonly #entries: readonly EventEntry[];
  #count = 0;

  constructor(
    private readonly partition: number,
    private readonly queue: PartitionQueue,
  ) {
    this.#entries = queue.unsent();
  }

  get hasMore(): boolean {
    return this.#count < this.#entries.length;
  }

  get hasBelowLive(): boolean {
    return (this.#entries[this.#count]?.offset ?? Infinity) <= this.queue.live;
  }

  get isAtLive(): boolean {
    return this.#through >= this.queue.live;
  }

  /** Whether it brings anything up to the live applied offset. */
  get isForward(): boolean {
    return Math.min(this.#through, this.queue.live) >= this.queue.next;
  }

  /** Takes one more entry. Returns whether there was room. */
  take(room: CallWork): boolean {
    const next = this.#entries[this.#count];
    const fits = next !== undefined && room.take(next);
    if (fits) this.#count += 1;
    return fits;
  }

  stretch(): Stretch {
    const { partition, queue } = this;
    const entries = this.#entries.slice(0, this.#count);
    return { partition, from: queue.next, through: this.#through, entries };
  }

  get #through(): number {
    const next = this.#entries[this.#count];
    return next === undefined ? this.queue.read : next.offset - 1;
  }
}
