import type { EventEntry } from '#board-store';

/** So many applied entries are let go of at once, in place of one by one. */
const MOST_APPLIED_KEPT = 1_000;

/** What was read of one partition for a shadow and is not known to be applied, in the order of the log. */
export class PartitionQueue {
  #entries: EventEntry[] = [];
  /** Entries before it are applied. */
  #head = 0;
  /** So many entries from there on are under way, up to this offset. */
  #sent = 0;
  #sentThrough: number;
  #applied: number;
  #read: number;
  #live = -1;

  /** `applied` is the offset of the last event in the shadow. */
  constructor(applied: number) {
    this.#applied = applied;
    this.#sentThrough = applied;
    this.#read = applied;
  }

  /** The offset of the last event in the shadow. */
  get applied(): number {
    return this.#applied;
  }

  /** The last offset that was read. */
  get read(): number {
    return this.#read;
  }

  /** The live applied offset as it was last heard of; -1 for none. */
  get live(): number {
    return this.#live;
  }

  /** Number of entries, also of those that are under way. */
  get waiting(): number {
    return this.#entries.length - this.#head;
  }

  get oldest(): EventEntry | undefined {
    return this.#entries[this.#head];
  }

  /** Where the next stretch begins. */
  get next(): number {
    return this.#sentThrough + 1;
  }

  /** An entry of those that are not under way. */
  at(index: number): EventEntry | undefined {
    return this.#entries[this.#head + this.#sent + index];
  }

  first(count: number): readonly EventEntry[] {
    const first = this.#head + this.#sent;
    return this.#entries.slice(first, first + count);
  }

  /** How many entries of those that are not under way lie below the live applied offset. */
  countBelowLive(): number {
    let [low, high] = [0, this.waiting - this.#sent];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.at(middle)?.offset ?? Infinity) <= this.#live) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** A stretch up to this offset is under way; what of it lies above the live applied offset may have to be brought again. */
  send(through: number): void {
    this.#sentThrough = Math.max(this.#sentThrough, Math.min(through, this.#live));
    while ((this.at(0)?.offset ?? Infinity) <= this.#sentThrough) this.#sent += 1;
  }

  /** Nothing is under way: what was is brought again. */
  unsend(): void {
    this.#sent = 0;
    this.#sentThrough = this.#applied;
  }

  add(entry: EventEntry): void {
    if (entry.offset <= this.#read) return;
    this.#entries.push(entry);
    this.#read = entry.offset;
  }

  advance(nextOffset: number): void {
    this.#read = Math.max(this.#read, nextOffset - 1);
  }

  /** Answers whether one of them is other than before. */
  heard(applied: number, live: number): boolean {
    const isOther = this.#live !== live || this.#applied < applied;
    this.#live = live;
    this.#applied = Math.max(this.#applied, applied);
    this.#sentThrough = Math.max(this.#sentThrough, applied);
    this.#read = Math.max(this.#read, applied);
    this.#drop(applied);
    if (this.#head >= MOST_APPLIED_KEPT) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    return isOther;
  }

  #drop(applied: number): void {
    while ((this.oldest?.offset ?? Infinity) <= applied) {
      this.#head += 1;
      this.#sent = Math.max(0, this.#sent - 1);
    }
  }
}
