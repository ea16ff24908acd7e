import type { Batch, EachBatchHandler } from 'kafkajs';
import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';
import Runner from 'kafkajs/src/consumer/runner.js';

/**
 * A log is out of sight when no fetch of it was answered for so long. One without new records is
 * answered every 200 ms; a partition with too many records in its queue is not fetched for a while,
 * which must not cost a look at the log each time.
 */
const OUT_OF_SIGHT_MS = 2_000;

/** A batch of kafkajs, with fields that its types lack. */
export interface FetchedBatch extends Pick<Batch, 'messages' | 'lastOffset'> {
  readonly fetchedOffset: string;
  /** When the fetch began, by performance.now(). */
  readonly askedAt: number;
  /** Since then, fetches of the partition were answered without a long pause or a failure. */
  readonly inSightSince: number;
}

/** By topic and partition: when the log came into sight, and the last fetch response, by performance.now(). */
type Sights = Map<string, { readonly since: number; readonly last: number }>;

const takers = new WeakSet<EachBatchHandler>();
const sights = new WeakMap<ConsumerGroup, Sights>();

/**
 * Makes kafkajs call this handler also for fetches without records (only transaction markers or aborted records). The handler
 * then resolves their last offset. Handlers of other consumers are not affected.
 */
export function takingEveryFetch(eachBatch: EachBatchHandler): EachBatchHandler {
  takers.add(eachBatch);
  return eachBatch;
}

/**
 * Without this patch, kafkajs silently skips fetches without records. `askedAt` identifies fetches
 * sent before a seek: kafkajs may hand one over when the leader moves while it is in flight. After a
 * failed fetch, `inSightSince` starts anew: deleting a topic makes the fetch fail that waits for its
 * records.
 */
export function handOverEveryFetch(): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the runner below
  const { fetch, handleBatch } = Runner.prototype;
  Runner.prototype.fetch = async function (nodeId) {
    const askedAt = performance.now();
    const batches = await fetch.call(this, nodeId);
    return batches.map((batch) => {
      const inSightSince = seen(this.consumerGroup, `${batch.topic}/${batch.partition}`);
      return Object.assign(batch, { askedAt, inSightSince });
    });
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
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the group below
  const { recoverFromFetch } = ConsumerGroup.prototype;
  ConsumerGroup.prototype.recoverFromFetch = async function (error) {
    sights.delete(this);
    await recoverFromFetch.call(this, error);
  };
}

/** Notes a fetch response of a log, and returns since when the log is in sight. */
function seen(group: ConsumerGroup, log: string): number {
  const ofGroup = sights.get(group) ?? (new Map() as Sights);
  sights.set(group, ofGroup);
  const last = performance.now();
  const before = ofGroup.get(log);
  const isInSight = before !== undefined && last - before.last <= OUT_OF_SIGHT_MS;
  const since = isInSight ? before.since : last;
  ofGroup.set(log, { since, last });
  return since;
}
