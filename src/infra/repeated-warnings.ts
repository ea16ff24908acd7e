/** The least time between two log lines of a kind. */
const LOG_EVERY_MS = 10_000;

/**
 * Limits log lines of a kind: logs the first one immediately, then at most one every ten seconds,
 * with the number since the last line.
 */
export class RepeatedWarnings<Facts> {
  /** By kind: the number since its last line, for LOG_EVERY_MS after that line. */
  readonly #since = new Map<string, number>();

  constructor(private readonly log: (facts: Facts, count: number) => void) {}

  /** Counts a warning. `facts` are logged if it causes a line now. */
  count(kind: string, facts: Facts): void {
    const since = this.#since.get(kind);
    if (since === undefined) this.#log(kind, facts, 1);
    else this.#since.set(kind, since + 1);
  }

  #log(kind: string, facts: Facts, count: number): void {
    this.log(facts, count);
    this.#since.set(kind, 0);
    setTimeout(() => {
      const since = this.#since.get(kind) ?? 0;
      this.#since.delete(kind);
      if (since > 0) this.#log(kind, facts, since);
    }, LOG_EVERY_MS).unref();
  }
}
