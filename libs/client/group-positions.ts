/** How often offsets are committed, in ms. After a crash, results of this time may be repeated. */
const COMMIT_INTERVAL_MS = 1_000;

/** Commits, at an interval, the offset after the handled results of each partition. */
export class HandledPositions {
  /**
   * Kept after a release: kafkajs drops commits while it restarts, and a partition may come back.
   */
  readonly #handled = new Map<number, number>();
  #uncommitted = new Map<number, number>();
  #last: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;

  /**
   * @param commit writes offsets to the group; offsets that it fails to write are written with the
   * next ones
   */
  constructor(
    private readonly commit: (positions: ReadonlyMap<number, number>) => Promise<void>,
    private readonly onFailure: (error: unknown) => void,
    intervalMs = COMMIT_INTERVAL_MS,
  ) {
    this.#timer = setInterval(() => void this.flush(), intervalMs);
    this.#timer.unref();
  }

  /** Notes that all results of a partition below `position` are handled. */
  handled(partition: number, position: number): void {
    this.#handled.set(partition, position);
    this.#uncommitted.set(partition, position);
  }

  /** The last position that `handled` noted for a partition, or 0. */
  last(partition: number): number {
    return this.#handled.get(partition) ?? 0;
  }

  /**
   * Commits the handled positions. Commits run in sequence, so that an older offset never replaces
   * a newer one. Never rejects.
   */
  flush(): Promise<void> {
    this.#last = this.#last.then(() => this.#flush());
    return this.#last;
  }

  /**
   * Commits a last time; positions that this fails to commit are dropped, because another member
   * may get the partition.
   */
  async release(partition: number): Promise<void> {
    await this.flush();
    this.#uncommitted.delete(partition);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #flush(): Promise<void> {
    const positions = this.#uncommitted;
    if (positions.size === 0) return;
    this.#uncommitted = new Map();
    try {
      await this.commit(positions);
    } catch (error) {
      this.#uncommitted = new Map([...positions, ...this.#uncommitted]);
      this.onFailure(error);
    }
  }
}
