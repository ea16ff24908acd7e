import type { UnreadableBatchError } from '../kafkajs/kafka-errors.js';
import type { RecordBatch } from '../kafkajs/types.js';

/** A fetch that waits for the handler. The worker refuses it unless it follows the previous one. */
export type QueuedBatch = Pick<RecordBatch, 'from' | 'records' | 'nextOffset' | 'fetchedSince'> & {
  /** If set, the worker throws it instead of handling the batch. */
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
   * Counts only batches that have to wait. A batch that goes straight to a waiting caller must not
   * pause the partition, however large it is.
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
   * waiting batches: otherwise, a handler whose calls take longer than the fetches would fall
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
    let last = first;
    let records = first.records.length;
    let bytes = bytesOf(first);
    for (;;) {
      const next = this.#batches[0];
      if (next === undefined || !canJoin(last, next)) break;
      if (records + next.records.length > MAX_JOINED) break;

      this.#batches.shift();
      joined.push(next);
      last = next;
      records += next.records.length;
      bytes += bytesOf(next);
    }
    this.#records -= records;
    this.#bytes -= bytes;
    if (joined.length === 1) return first;

    const { nextOffset, fetchedSince } = last;
    const all = joined.flatMap((batch) => batch.records);
    return { ...first, records: all, nextOffset, fetchedSince };
  }

  clear(): void {
    this.#batches.length = 0;
    this.#records = 0;
    this.#bytes = 0;
  }
}

/**
 * The worker refuses a batch after a gap, and throws for an unreadable one. The batches before it
 * must be handled first, so it is not joined to them.
 */
function canJoin(last: QueuedBatch, next: QueuedBatch): boolean {
  return next.from === last.nextOffset && next.unreadable === undefined;
}

function bytesOf({ records }: QueuedBatch): number {
  let bytes = 0;
  for (const { key, value, encodedHeaders } of records)
    bytes += (key?.length ?? 0) + (value?.length ?? 0) + (encodedHeaders?.byteLength ?? 0);
  return bytes;
}
