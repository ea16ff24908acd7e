/** How long a sample stands while its topic grows, and while it does not: records at its start may be deleted. */
const KEEP_GROWING_MS = 10_000;
const KEEP_MS = 60_000;

interface Kept<Found> {
  readonly ends: string;
  readonly readAt: number;
  readonly found: Promise<Found>;
}

/** What was read at the end of a topic, kept for those who ask every few seconds: each read takes up to some MiB a partition. */
export class KeptSample<Found> {
  #kept: Kept<Found> | undefined;

  constructor(
    private readonly endsOf: () => Promise<ReadonlyMap<number, number>>,
    private readonly read: () => Promise<Found>,
  ) {}

  /** @throws errors of Kafka, which are not kept */
  async get(): Promise<Found> {
    const ends = JSON.stringify([...(await this.endsOf())].sort());
    const kept = this.#kept;
    const readAt = performance.now();
    if (kept !== undefined) {
      const keepMs = kept.ends === ends ? KEEP_MS : KEEP_GROWING_MS;
      if (readAt - kept.readAt < keepMs) return kept.found;
    }
    const next = { ends, readAt, found: this.read() };
    this.#kept = next;
    next.found.catch(() => {
      if (this.#kept === next) this.#kept = undefined;
    });
    return next.found;
  }
}
