import type { Batch, EachBatchHandler } from 'kafkajs';
import Runner from 'kafkajs/src/consumer/runner.js';

/** A batch as kafkajs makes it: its types lack the offset that was asked for. */
export interface FetchedBatch extends Pick<Batch, 'messages' | 'lastOffset'> {
  readonly fetchedOffset: string;
  /** When the fetch began, by performance.now(). */
  readonly askedAt: number;
  /** See log-in-sight.ts. */
  readonly inSightSince: number;
}

const takers = new WeakSet<EachBatchHandler>();

/**
 * Has kafkajs call this handler also for fetches whose records were all filtered out (transaction markers, aborted
 * records), and leave it to the handler to resolve their last offset. Handlers of other consumers are not affected.
 */
export function takingEveryFetch(eachBatch: EachBatchHandler): EachBatchHandler {
  takers.add(eachBatch);
  return eachBatch;
}

/**
 * kafkajs steps over fetches without records in silence, and may hand over one that was asked for before a seek: when the
 * leader moves, the fetch that is in flight to the old leader does not know of the seek.
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
