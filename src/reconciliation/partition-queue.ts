import type { EventEntry } from '#board-store';

/** So many applied entries are let go of at once, in place of one by one. */
const MOST_APPLIED_KEPT = 1_000;

/** What was read of one partition for a shadow and is not known to be applied, in the order of the log. */
export class PartitionQueue {
  #entries: EventEntry[] = [];
  /** Entries before it are applied. */
  #head = 0;
  #applied: number;
  #read: number;
  #live = -1;

  /** `applied` is the offset of the last event in the shadow. */
  constructor(applied: number) {
    this.#applied = applied;
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

  /** The live watermark as it was last heard of; -1 for none. */
  get live(): number {
    return this.#live;
  }

  /** Number of entries. */
  get waiting(): number {
    return this.#entries.length - this.#head;
  }

  at(index: number): EventEntry | undefined {
    return this.#entries[this.#head + index];
  }

  first(count: number): readonly EventEntry[] {
    return this.#entries.slice(this.#head, this.#head + count);
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
    this.#read = Math.max(this.#read, applied);
    for (let first = this.at(0); first !== undefined && first.offset <= applied; first = this.at(0))
      this.#head += 1;
    if (this.#head >= MOST_APPLIED_KEPT) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    return isOther;
  }
}
