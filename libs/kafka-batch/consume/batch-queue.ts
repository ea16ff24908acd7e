import type { UnreadableBatchError } from '../kafkajs/kafka-errors.js';
import type { RecordBatch } from '../kafkajs/types.js';

/**
 * A fetch that waits for the handler. If it does not begin where the previous one ended, the worker
 * refuses it.
 */
export type QueuedBatch = Pick<RecordBatch, 'from' | 'records' | 'nextOffset' | 'fetchedSince'> & {
  /** What the worker throws in place of a batch. */
  readonly unreadable?: UnreadableBatchError | undefined;
};

/**
 * Above `high` waiting records, or above `bytes`, the partition is paused; below `low` records and
 * `bytes`, it is resumed.
 */
export interface QueueLimits {
  readonly high: number;
  readonly low: number;
  readonly bytes: number;
}

const MAX_JOINED = 2_000;

/** Fetched batches of one partition that wait for the handler. */
export class BatchQueue {
  readonly #batches: QueuedBatch[] = [];
  #records = 0;
  #bytes = 0;
  /** Resolves the promise that `take` waits for. */
  #resolve: ((batch: QueuedBatch | undefined) => void) | undefined;

  get records(): number {
    return this.#records;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Counts only batches that have to wait: one that a caller waits for must not pause the
   * partition, however large it is.
   */
  put(batch: QueuedBatch): void {
    if (this.#resolve !== undefined) {
      this.#endWait(batch);
      return;
    }
    this.#batches.push(batch);
    this.#records += batch.records.length;
    this.#bytes += bytesOf(batch);
  }

  /**
   * Waits for the next batch; undefined once the signal is aborted. One caller at a time. Joins
   * waiting batches, so that a handler whose calls take longer than the fetches does not fall
   * further and further behind.
   */
  async take(signal: AbortSignal): Promise<QueuedBatch | undefined> {
    if (signal.aborted) return undefined;
    const ready = this.#batches.shift();
    if (ready !== undefined) return this.#joined(ready);
    const stop = () => this.#endWait(undefined);
    signal.addEventListener('abort', stop);
    try {
      return await new Promise((resolve) => (this.#resolve = resolve));
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  #endWait(batch: QueuedBatch | undefined): void {
    this.#resolve?.(batch);
    this.#resolve = undefined;
  }

  #joined(first: QueuedBatch): QueuedBatch {
    const joined = [first];
    let records = first.records.length;
    for (let next = this.#batches[0]; next !== undefined; next = this.#batches[0]) {
      if (records + next.records.length > MAX_JOINED) break;
      if (next.from !== joined.at(-1)?.nextOffset) break; // the worker refuses this batch
      if (next.unreadable !== undefined) break;
      records += next.records.length;
      joined.push(next);
      this.#batches.shift();
    }
    this.#records -= records;
    this.#bytes -= joined.reduce((sum, batch) => sum + bytesOf(batch), 0);
    if (joined.length === 1) return first;
    const { nextOffset, fetchedSince } = joined.at(-1) ?? first;
    const all = joined.flatMap((batch) => batch.records);
    return { ...first, records: all, nextOffset, fetchedSince };
  }

  clear(): void {
    this.#batches.length = 0;
    this.#records = 0;
    this.#bytes = 0;
  }
}

function bytesOf({ records }: QueuedBatch): number {
  let bytes = 0;
  for (const { key, value, encodedHeaders } of records)
    bytes += (key?.length ?? 0) + (value?.length ?? 0) + (encodedHeaders?.byteLength ?? 0);
  return bytes;
}
