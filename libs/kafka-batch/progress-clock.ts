/**
 * For how long a partition has had work without finishing any. Work is a start, records in hand or waiting, and
 * records that were in hand before a failure: a start at the offset of the one before makes no progress until it has
 * finished more than that one had taken.
 *
 * States: idle (no work), working since a time.
 */
export class ProgressClock {
  #since: number | undefined;
  #startOffset: number | undefined;
  /** How far records were handed over since the start offset last changed. */
  #reached = 0;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** In ms; 0 when there is no work. */
  get stuckMs(): number {
    return this.#since === undefined ? 0 : this.now() - this.#since;
  }

  /** There is work: a start, or records that wait. */
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

  finished(nextOffset: number, more: boolean): void {
    if (nextOffset < this.#reached) return;
    this.idle();
    if (more) this.working();
  }

  /** Whoever waits on purpose says so. */
  progress(): void {
    if (this.#since !== undefined) this.#since = this.now();
  }

  idle(): void {
    this.#since = undefined;
  }
}
