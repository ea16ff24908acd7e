import type { EventEntry, Shadow, Stretch, AppliedOffset } from '#board-store';
import { CallWork, type CallLimits } from '../ingest/split-calls.js';
import { PartitionQueue } from './partition-queue.js';

/** What a call brings; `isNear` when it brings the shadow to the live applied offsets, as they were last heard of; `isFull` when no more fits. */
export interface NextCall {
  readonly stretches: readonly Stretch[];
  readonly isNear: boolean;
  readonly isFull: boolean;
}

/**
 * What was read of the log for a shadow and is not known to be applied. The script never takes a shadow beyond the live
 * applied offsets, so what was read ahead of those waits here.
 */
export class ShadowQueue {
  readonly #partitions = new Map<number, PartitionQueue>();

  /** `begun` are the applied offsets of the shadow; a partition that has none begins where the shadow begins in the log. */
  constructor(
    readonly shadow: Shadow,
    private readonly begun: ReadonlyMap<number, number>,
  ) {}

  /** The first offset that is not read yet. */
  position(partition: number): number {
    return this.#partition(partition).read + 1;
  }

  /** By partition, where there is one. */
  appliedOffsets(): [partition: number, applied: number][] {
    return [...this.#partitions].map(([partition, { applied }]) => [partition, applied]);
  }

  /** Whether more of the partition is needed at all. */
  wants(partition: number): boolean {
    const end = this.shadow.ends?.get(partition);
    return this.shadow.ends === undefined || this.position(partition) < (end ?? 0);
  }

  /** Events of a partition that wait. */
  waiting(partition: number): number {
    return this.#partition(partition).waiting;
  }

  /** Whether what waits is to be applied now. */
  isEmptying(partition: number): boolean {
    const { oldest, live } = this.#partition(partition);
    return oldest !== undefined && oldest.offset <= live;
  }

  /** An event of the shadow's board; one that is in the shadow, or not to be, is dropped. */
  add(partition: number, entry: EventEntry): void {
    const end = this.shadow.ends?.get(partition) ?? Infinity;
    if (entry.offset < end) this.#partition(partition).add(entry);
  }

  /** All before this offset is read. */
  advance(partition: number, nextOffset: number): void {
    const { ends } = this.shadow;
    const end = ends === undefined ? Infinity : (ends.get(partition) ?? 0);
    this.#partition(partition).advance(Math.min(nextOffset, end));
  }

  /** These stretches are under way: the next call brings what follows on what of them lies below the live applied offsets. */
  send(stretches: readonly Stretch[]): void {
    for (const { partition, through } of stretches) this.#partition(partition).send(through);
  }

  /** What has become of the calls that are under way is not known: all that is not known to be applied is brought again. */
  unsend(): void {
    for (const queue of this.#partitions.values()) queue.unsend();
  }

  /** What a call of the script said. Answers whether anything is other than before. */
  heard(appliedOffsets: ReadonlyMap<number, AppliedOffset>): boolean {
    const changes = [...appliedOffsets].map(([partition, { shadow, live }]) =>
      this.#partition(partition).heard(shadow, live),
    );
    return changes.includes(true);
  }

  /** The live applied offsets, as they were asked for. Answers whether one of them is other than before. */
  heardLive(appliedOffsets: ReadonlyMap<number, number>): boolean {
    const changes = [...appliedOffsets].map(([partition, live]) => {
      const queue = this.#partition(partition);
      return queue.heard(queue.applied, live);
    });
    return changes.includes(true);
  }

  /**
   * `snapshot` only: whether everything up to its ends is applied. The log may end in transaction markers that the live
   * applied offset does not cover yet.
   */
  get isAtEnds(): boolean {
    return [...(this.shadow.ends ?? [])].every(([partition, end]) => {
      const { read, waiting } = this.#partition(partition);
      return read + 1 >= end && waiting === 0;
    });
  }

  /** Entries that could be applied now. */
  countBelowLive(): number {
    return [...this.#partitions.values()].reduce((sum, queue) => sum + queue.countBelowLive(), 0);
  }

  /** Partitions whose live applied offset lies above what was read of them. */
  behindLive(): { partition: number; live: number }[] {
    return [...this.#partitions]
      .filter(([, { read, live }]) => read < live)
      .map(([partition, { live }]) => ({ partition, live }));
  }

  /** Records from where the shadow begins to where it is to come, as far as is known: the live applied offsets, or its ends. */
  get progress(): { readonly done: number; readonly total: number } {
    let [done, total] = [0, 0];
    const { starts, ends } = this.shadow;
    for (const [partition, { applied, live }] of this.#partitions) {
      const start = starts?.get(partition) ?? 0;
      const target = ends === undefined ? live + 1 : (ends.get(partition) ?? 0);
      total += Math.max(0, target - start);
      done += Math.max(0, Math.min(applied + 1, target) - start);
    }
    return { done, total };
  }

  /**
   * What the next call brings: of every partition what lies below its live applied offset, as far as it fits, in equal shares.
   * If that is all there is below them, what was read ahead fills the rest: the live boards move on meanwhile.
   */
  next(limits: CallLimits): NextCall {
    const queues = [...this.#partitions];
    const cuts = queues.map(([partition, queue]) => new Cut(partition, queue));
    const room = new CallWork(new Map([[this.shadow.board, this.shadow]]), true, limits);
    share(cuts, room, (cut) => cut.hasBelowLive);
    const isNear = cuts.every((cut) => cut.isAtLive);
    if (isNear) share(cuts, room, (cut) => cut.hasMore);
    const brought = isNear ? cuts : cuts.filter((cut) => cut.isForward);
    return { isNear, isFull: room.isFull, stretches: brought.map((cut) => cut.stretch()) };
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

/** Gives every cut that wants more an equal share of the room, until there is none or nobody wants. */
function share(cuts: readonly Cut[], room: CallWork, wants: (cut: Cut) => boolean): void {
  let wanting = cuts.filter(wants);
  while (wanting.length > 0 && !room.isFull) {
    const each = Math.max(1, Math.floor(room.entriesLeft / wanting.length));
    for (const cut of wanting)
      for (let taken = 0; taken < each && wants(cut); taken++) if (!cut.take(room)) return;
    wanting = wanting.filter(wants);
  }
}

/** A stretch in the making: the first so many entries of a partition. */
class Cut {
  #count = 0;

  constructor(
    private readonly partition: number,
    private readonly queue: PartitionQueue,
  ) {}

  get hasMore(): boolean {
    return this.#next !== undefined;
  }

  get hasBelowLive(): boolean {
    const next = this.#next;
    return next !== undefined && next.offset <= this.queue.live;
  }

  /** Whether it reaches the live applied offset. */
  get isAtLive(): boolean {
    return this.#through >= this.queue.live;
  }

  /** Whether it brings anything below the live applied offset. */
  get isForward(): boolean {
    return Math.min(this.#through, this.queue.live) >= this.queue.next;
  }

  /** Takes one more entry if there is room. Returns whether it did. */
  take(room: CallWork): boolean {
    const next = this.#next;
    const fits = next !== undefined && room.take(next);
    if (fits) this.#count += 1;
    return fits;
  }

  stretch(): Stretch {
    const { partition, queue } = this;
    const entries = queue.first(this.#count);
    return { partition, from: queue.next, through: this.#through, entries };
  }

  get #next(): EventEntry | undefined {
    return this.queue.at(this.#count);
  }

  get #through(): number {
    const next = this.#next;
    return next === undefined ? this.queue.read : next.offset - 1;
  }
}
