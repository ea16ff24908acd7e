/**
 * Waits that double from `firstMs` to `maxMs`, each shortened by up to a half at random (jitter).
 */
export class Backoff {
  #attempt = 0;

  constructor(
    private readonly limits = { firstMs: 100, maxMs: 5_000 },
    private readonly random: () => number = Math.random,
  ) {}

  next(): number {
    const full = Math.min(this.limits.maxMs, this.limits.firstMs * 2 ** this.#attempt);
    this.#attempt += 1;
    return full * (1 - this.random() / 2);
  }

  /** Call after progress: the waits begin at `firstMs` again. */
  reset(): void {
    this.#attempt = 0;
  }
}
