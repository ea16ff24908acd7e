const KEEP_MS = 10_000;

/** What was read at the end of a topic, kept for those who ask every few seconds: each read takes up to some MiB a partition. */
export class KeptSample<Found> {
  #kept: { readonly readAt: number; readonly found: Promise<Found> } | undefined;

  constructor(private readonly read: () => Promise<Found>) {}

  /** @throws errors of Kafka, which are not kept */
  async get(): Promise<Found> {
    const readAt = performance.now();
    if (this.#kept !== undefined && readAt - this.#kept.readAt < KEEP_MS) return this.#kept.found;
    const next = { readAt, found: this.read() };
    this.#kept = next;
    next.found.catch(() => {
      if (this.#kept === next) this.#kept = undefined;
    });
    return next.found;
  }
}
