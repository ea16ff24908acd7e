type Positions = ReadonlyMap<number, number>;

/** So many results of the past, in ms, may come again after a crash. */
const COMMIT_EVERY_MS = 1_000;

/** How far the results of each partition are handled, committed from time to time. */
export class HandledPositions {
  #open = new Map<number, number>();
  #last: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;

  /** @param commit writes positions to the group; may fail, then they are written with the next ones */
  constructor(
    private readonly commit: (positions: Positions) => Promise<void>,
    private readonly onFailure: (error: unknown) => void,
    everyMs = COMMIT_EVERY_MS,
  ) {
    this.#timer = setInterval(() => void this.flush(), everyMs);
    this.#timer.unref();
  }

  /** `position` is the offset that comes next in the partition. */
  handled(partition: number, position: number): void {
    this.#open.set(partition, position);
  }

  /** Commits what was handled up to now; one commit at a time, so that no older one comes later. Never rejects. */
  flush(): Promise<void> {
    this.#last = this.#last.then(() => this.#flush());
    return this.#last;
  }

  /** The partition goes to someone else, whose commits count from now on. */
  async release(partition: number): Promise<void> {
    await this.flush();
    this.#open.delete(partition);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #flush(): Promise<void> {
    const positions = this.#open;
    if (positions.size === 0) return;
    this.#open = new Map();
    try {
      await this.commit(positions);
    } catch (error) {
      this.#open = new Map([...positions, ...this.#open]);
      this.onFailure(error);
    }
  }
}
