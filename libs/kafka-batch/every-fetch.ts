import type { Batch, EachBatchHandler } from 'kafkajs';
import Runner from 'kafkajs/src/consumer/runner.js';

/** A batch of kafkajs, with fields that its types lack. */
export interface FetchedBatch extends Pick<Batch, 'messages' | 'lastOffset'> {
  readonly fetchedOffset: string;
  /** When the fetch began, by performance.now(). */
  readonly askedAt: number;
  /** See log-in-sight.ts. */
  readonly inSightSince: number;
}

const takers = new WeakSet<EachBatchHandler>();

/**
 * Makes kafkajs call this handler also for fetches without records (only transaction markers or aborted records). The handler
 * then resolves their last offset. Handlers of other consumers are not affected.
 */
export function takingEveryFetch(eachBatch: EachBatchHandler): EachBatchHandler {
  takers.add(eachBatch);
  return eachBatch;
}

/**
 * Without this patch, kafkajs silently skips fetches without records. `askedAt` identifies fetches sent before a seek: kafkajs may
 * hand one over when the leader moves while it is in flight.
 */
export function handOverEveryFetch(): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the runner below
  const { fetch, handleBatch } = Runner.prototype;
  Runner.prototype.fetch = async function (nodeId) {
    const askedAt = performance.now();
    const batches = await fetch.call(this, nodeId);
    return batches.map((batch) => Object.assign(batch, { askedAt }));
  };
  Runner.prototype.handleBatch = async function (batch) {
    const isTaken = this.eachBatch !== null && takers.has(this.eachBatch);
    if (!isTaken || !this.running || !batch.isEmptyDueToFiltering()) {
      await handleBatch.call(this, batch);
      return;
    }
    await this.processEachBatch(batch);
    await this.heartbeat();
  };
}
