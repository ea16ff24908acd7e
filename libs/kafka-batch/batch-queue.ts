import type { RecordBatch } from './types.js';

/** One fetch that waits for its handler; each begins where the previous one ended. */
export type QueuedBatch = Pick<RecordBatch, 'from' | 'records' | 'nextOffset' | 'inSightSince'>;

/** Records held back for one partition: above `high`, or above `bytes`, the partition is paused, below `low` resumed. */
export interface QueueLimits {
  readonly high: number;
  readonly low: number;
  readonly bytes: number;
}

/** Records of batches that are handed over as one. */
const MOST_TOGETHER = 2_000;

/** Fetched batches of one partition between kafkajs and the handler. `take` waits for the next one. */
export class BatchQueue {
  readonly #batches: QueuedBatch[] = [];
  #records = 0;
  #bytes = 0;
  #taker: ((batch: QueuedBatch | undefined) => void) | undefined;

  get records(): number {
    return this.#records;
  }

  /** Bytes of the values that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  put(batch: QueuedBatch): void {
    const taker = this.#taker;
    this.#taker = undefined;
    if (taker !== undefined) {
      taker(batch);
      return;
    }
    this.#batches.push(batch);
    this.#records += batch.records.length;
    this.#bytes += valueBytes(batch);
  }

  /**
   * The next batch; undefined once the signal is aborted. One taker at a time. What has gathered behind it goes with it:
   * a handler that is slower than the fetches would fall behind by one of them after the other.
   */
  async take(signal: AbortSignal): Promise<QueuedBatch | undefined> {
    if (signal.aborted) return undefined;
    const ready = this.#batches.shift();
    if (ready !== undefined) return this.#withFollowers(ready);
    return new Promise((resolve) => {
      const stop = () => {
        this.#taker = undefined;
        resolve(undefined);
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#taker = (batch) => {
        signal.removeEventListener('abort', stop);
        resolve(batch);
      };
    });
  }

  #withFollowers(first: QueuedBatch): QueuedBatch {
    const together = [first];
    let records = first.records.length;
    for (let next = this.#batches[0]; next !== undefined; next = this.#batches[0]) {
      if (records + next.records.length > MOST_TOGETHER) break;
      if (next.from !== together.at(-1)?.nextOffset) break; // does not follow on: the worker refuses it
      records += next.records.length;
      together.push(next);
      this.#batches.shift();
    }
    this.#records -= records;
    this.#bytes -= together.reduce((sum, batch) => sum + valueBytes(batch), 0);
    if (together.length === 1) return first;
    const { nextOffset, inSightSince } = together.at(-1) ?? first;
    const all = together.flatMap((batch) => batch.records);
    return { ...first, records: all, nextOffset, inSightSince };
  }

  clear(): void {
    this.#batches.length = 0;
    this.#records = 0;
    this.#bytes = 0;
  }
}

function valueBytes({ records }: QueuedBatch): number {
  return records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0);
}
