/**
 * Measures how long a partition has had work without finishing any. Work is a start, records in
 * hand or waiting, and records that were in hand before a failure. So a restart at the same offset
 * is no progress until the partition finishes all that it had taken before. States: idle (no work),
 * working since a time.
 */
export class ProgressClock {
  #since: number | undefined;
  #startOffset: number | undefined;
  /** End of the records taken since the start offset last changed. */
  #reached = 0;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** 0 without work. */
  get stuckMs(): number {
    return this.#since === undefined ? 0 : this.now() - this.#since;
  }

  /** Notes that there is work: a start, or waiting records. */
  working(): void {
    this.#since ??= this.now();
  }

  started(offset: number): void {
    if (offset === this.#startOffset && offset < this.#reached) return;
    this.#startOffset = offset;
    this.#reached = offset;
    this.idle();
  }

  taken(nextOffset: number): void {
    this.working();
    this.#reached = Math.max(this.#reached, nextOffset);
  }

  finished(nextOffset: number, hasMore: boolean): void {
    if (nextOffset < this.#reached) return;
    this.idle();
    if (hasMore) this.working();
  }

  /** Notes that a handler waits on purpose or works on a long task. */
  progress(): void {
    if (this.#since !== undefined) this.#since = this.now();
  }

  idle(): void {
    this.#since = undefined;
  }
}
