import type { Admin } from 'kafkajs';

type Positions = ReadonlyMap<number, number>;

/**
 * Start offsets of a group, per partition without a committed offset. Read them before the group is joined: it gets all that is
 * published from then on. Only a new group may start at the end; partitions without an entry start at their first result.
 */
export async function readStartPositions(
  admin: Admin,
  { groupId, topic, fromBeginning }: { groupId: string; topic: string; fromBeginning: boolean },
): Promise<Positions> {
  const [found] = await admin.fetchOffsets({ groupId, topics: [topic] });
  const isKnown = found?.partitions.some(({ offset }) => Number(offset) >= 0) ?? false;
  if (fromBeginning || isKnown) return new Map();
  const offsets = await admin.fetchTopicOffsets(topic);
  return new Map(offsets.map(({ partition, high }) => [partition, Number(high)]));
}

/** After a crash, the results of this time, in ms, may be delivered again. */
const COMMIT_INTERVAL_MS = 1_000;

/** The offset after the handled results of each partition, committed at an interval. */
export class HandledPositions {
  #uncommitted = new Map<number, number>();
  #last: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;

  /** @param commit writes offsets to the group; offsets that it fails to write go with the next ones */
  constructor(
    private readonly commit: (positions: Positions) => Promise<void>,
    private readonly onFailure: (error: unknown) => void,
    intervalMs = COMMIT_INTERVAL_MS,
  ) {
    this.#timer = setInterval(() => void this.flush(), intervalMs);
    this.#timer.unref();
  }

  /** `position` is the next offset of the partition. */
  handled(partition: number, position: number): void {
    this.#uncommitted.set(partition, position);
  }

  /** Commits what was handled. Commits run in sequence, so that an older offset never replaces a newer one. Never rejects. */
  flush(): Promise<void> {
    this.#last = this.#last.then(() => this.#flush());
    return this.#last;
  }

  /** Commits a last time; then the partition belongs to another member. */
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
