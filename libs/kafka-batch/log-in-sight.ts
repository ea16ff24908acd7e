import ConsumerGroup from 'kafkajs/src/consumer/consumerGroup.js';

/**
 * A log is out of sight when no fetch of it was answered for so long. One without new records is answered every 200 ms; a
 * partition with too many records in its queue is not fetched for a while, which must not cost a look at the log each time.
 */
const OUT_OF_SIGHT_MS = 2_000;

/** By topic and partition: when the log came into sight, and the last fetch response, by performance.now(). */
type Sights = Map<string, { readonly since: number; readonly last: number }>;

const sights = new WeakMap<ConsumerGroup, Sights>();

/**
 * Sets `inSightSince` on each fetched batch: since then, fetch responses came without a long pause or a failure. Deleting a
 * topic makes the fetch fail that waits for its records.
 */
export function keepLogsInSight(): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called with the group below
  const { fetch, recoverFromFetch } = ConsumerGroup.prototype;
  ConsumerGroup.prototype.fetch = async function (nodeId) {
    const batches = await fetch.call(this, nodeId);
    const last = performance.now();
    const ofGroup = sights.get(this) ?? (new Map() as Sights);
    sights.set(this, ofGroup);
    return batches.map((batch) => {
      const log = `${batch.topic}/${batch.partition}`;
      const before = ofGroup.get(log);
      const isInSight = before !== undefined && last - before.last <= OUT_OF_SIGHT_MS;
      const since = isInSight ? before.since : last;
      ofGroup.set(log, { since, last });
      return Object.assign(batch, { inSightSince: since });
    });
  };
  ConsumerGroup.prototype.recoverFromFetch = async function (error) {
    sights.delete(this);
    await recoverFromFetch.call(this, error);
  };
}
