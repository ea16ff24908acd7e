// To add a wait, a retry or a timeout: put the constant (*_MS, BACKOFF) into the file that waits,
// or make it a setting if operators choose it. Retries of builds are in
// src/reconciliation/background-builder.ts and src/reconciliation/runs/retries.ts, restarts of a
// partition in ../consume/partition-worker.ts, retries of handlers in
// libs/client/retrying-handler.ts, waits for servers in src/infra (redis.ts, kafka.ts,
// services.ts).

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
