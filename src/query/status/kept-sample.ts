const KEEP_MS = 10_000;

/**
 * What was read at the end of a topic, kept for those who ask every few seconds: each read takes up
 * to some MiB a partition. Reads that are asked for during one share it, however long it takes.
 */
export class KeptSample<Found> {
  #kept: { until: number; readonly found: Promise<Found> } | undefined;

  constructor(private readonly read: () => Promise<Found>) {}

  /** @throws errors of Kafka, which are not kept */
  async get(): Promise<Found> {
    if (this.#kept !== undefined && performance.now() < this.#kept.until) return this.#kept.found;
    const next = { until: Infinity, found: this.read() };
    this.#kept = next;
    next.found.then(
      () => (next.until = performance.now() + KEEP_MS),
      () => (next.until = 0),
    );
    return next.found;
  }
}
