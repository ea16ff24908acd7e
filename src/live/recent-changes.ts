import type { RankChange } from '#contracts';
import type { LogPosition } from './log-position.js';

/** A rank change and its place in the topic of rank changes. `text` is its JSON, as in Kafka. */
export interface CommittedChange {
  readonly partition: number;
  readonly offset: number;
  readonly change: RankChange;
  readonly text: string;
}

/** Parsed rank changes take a few times the bytes of their texts. */
export const MOST_CHANGES = 10_000;
const MOST_BYTES = 16 * 1_048_576;

/** The last rank changes that were read, in the order of reading: at most 10,000, with texts of at most 16 MiB. */
export class RecentChanges {
  readonly #changes: CommittedChange[] = [];
  #bytes = 0;
  /** By partition, the offset from which on all rank changes are here. */
  readonly #starts: number[];

  constructor(start: LogPosition) {
    this.#starts = [...start];
  }

  add(change: CommittedChange): void {
    this.#changes.push(change);
    this.#bytes += change.text.length;
    while (this.#changes.length > MOST_CHANGES || this.#bytes > MOST_BYTES) this.#dropOldest();
  }

  /** The rank changes from a position on; undefined if some of them are no longer here. Cost: O(changes kept). */
  since(position: LogPosition): CommittedChange[] | undefined {
    if (position.some((offset, partition) => offset < (this.#starts[partition] ?? 0)))
      return undefined;
    return this.#changes.filter(({ partition, offset }) => offset >= (position[partition] ?? 0));
  }

  /** Drops a tenth at once, because each removal moves all that stay. */
  #dropOldest(): void {
    for (const { partition, offset, text } of this.#changes.splice(
      0,
      Math.ceil(this.#changes.length / 10),
    )) {
      this.#bytes -= text.length;
      this.#starts[partition] = offset + 1;
    }
  }
}
