import { describe, expect, it } from '@jest/globals';
import { BatchQueue, type QueuedBatch } from './batch-queue.js';

function batchOf(nextOffset: number, ...sizes: (number | null)[]): QueuedBatch {
  const records = sizes.map((size, index) => ({
    offset: nextOffset - sizes.length + index,
    timestamp: 0,
    key: null,
    value: size === null ? null : Buffer.alloc(size),
    headers: {},
  }));
  return { records, nextOffset, doubtful: undefined };
}

describe('BatchQueue', () => {
  it('gives batches in the order they came in, and counts what waits', async () => {
    const queue = new BatchQueue();
    const { signal } = new AbortController();
    const [first, second] = [batchOf(2, 10, null), batchOf(3, 5)];
    queue.put(first);
    queue.put(second);
    expect([queue.records, queue.bytes]).toEqual([3, 15]);
    expect(await queue.take(signal)).toBe(first);
    expect([queue.records, queue.bytes]).toEqual([1, 5]);
    expect(await queue.take(signal)).toBe(second);
    expect([queue.records, queue.bytes]).toEqual([0, 0]);
  });

  it('hands a batch to the one who waits for it, once', async () => {
    const queue = new BatchQueue();
    const { signal } = new AbortController();
    const waiting = queue.take(signal);
    const [first, second] = [batchOf(1, 1), batchOf(2, 2)];
    queue.put(first);
    queue.put(second);
    expect(await waiting).toBe(first);
    expect(queue.records).toBe(1);
    expect(await queue.take(signal)).toBe(second);
  });

  it('ends the wait with nothing when it is aborted, and keeps what comes later for the next one', async () => {
    const queue = new BatchQueue();
    const ended = new AbortController();
    const waiting = queue.take(ended.signal);
    ended.abort();
    expect(await waiting).toBeUndefined();
    const batch = batchOf(1, 1);
    queue.put(batch);
    expect(await queue.take(ended.signal)).toBeUndefined();
    expect(await queue.take(new AbortController().signal)).toBe(batch);
  });

  it('holds nothing once it is cleared', () => {
    const queue = new BatchQueue();
    queue.put(batchOf(2, 10, 10));
    queue.clear();
    expect([queue.records, queue.bytes]).toEqual([0, 0]);
  });
});
