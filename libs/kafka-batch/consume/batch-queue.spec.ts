import { describe, expect, it } from '@jest/globals';
import { EncodedHeaders } from '../kafkajs/record-headers.js';
import { BatchQueue, type QueuedBatch } from './batch-queue.js';

function batchOf(nextOffset: number, ...sizes: (number | null)[]): QueuedBatch {
  const records = sizes.map((size, index) => ({
    offset: nextOffset - sizes.length + index,
    timestamp: 0,
    key: null,
    value: size === null ? null : Buffer.alloc(size),
    headers: {},
  }));
  return { from: nextOffset - sizes.length, records, nextOffset, fetchedSince: 0 };
}

describe('BatchQueue', () => {
  it('returns batches in order, and counts waiting records and bytes', async () => {
    const queue = new BatchQueue();
    const { signal } = new AbortController();
    const [first, second] = [batchOf(2, 10, null), batchOf(5, 5)];
    queue.put(first);
    queue.put(second);
    expect([queue.records, queue.bytes]).toEqual([3, 15]);
    expect(await queue.take(signal)).toBe(first);
    expect([queue.records, queue.bytes]).toEqual([1, 5]);
    expect(await queue.take(signal)).toBe(second);
    expect([queue.records, queue.bytes]).toEqual([0, 0]);
  });

  it('counts the bytes of keys and headers, too', () => {
    const queue = new BatchQueue();
    const batch = batchOf(1, 10);
    const encodedHeaders = new EncodedHeaders(1, Buffer.alloc(700), 100);
    const records = batch.records.map((record) => {
      return { ...record, key: Buffer.alloc(40), encodedHeaders };
    });
    queue.put({ ...batch, records });
    expect(queue.bytes).toBe(650);
  });

  it('joins contiguous waiting batches, up to 2,000 records', async () => {
    const queue = new BatchQueue();
    const { signal } = new AbortController();
    const many = batchOf(1_999, ...Array.from({ length: 1_999 }, () => 1));
    const markers = { ...batchOf(2_003), from: 2_001 };
    for (const batch of [many, batchOf(2_000, 1), batchOf(2_001, 2), markers, batchOf(3_000, 3)])
      queue.put(batch);
    const taken = [await queue.take(signal), await queue.take(signal), await queue.take(signal)];
    const sizes = taken.map((batch) => [batch?.from, batch?.records.length, batch?.nextOffset]);
    expect(sizes).toEqual([
      [0, 2_000, 2_000],
      [2_000, 1, 2_003],
      [2_999, 1, 3_000],
    ]);
    expect([queue.records, queue.bytes]).toEqual([0, 0]);
  });

  it('passes a batch to the waiting caller, once', async () => {
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

  it('ends the wait when it is aborted, and keeps later batches for the next caller', async () => {
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

  it('is empty after clear', () => {
    const queue = new BatchQueue();
    queue.put(batchOf(2, 10, 10));
    queue.clear();
    expect([queue.records, queue.bytes]).toEqual([0, 0]);
  });
});
