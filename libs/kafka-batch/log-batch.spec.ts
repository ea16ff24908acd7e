import { describe, expect, it } from '@jest/globals';
import type { FetchedPartition } from './cluster.js';
import { logBatch } from './log-batch.js';

type Message = FetchedPartition['messages'][number];

/** A batch of records that begins at an offset; `lastOffsetDelta` tells where it ended before it was compacted. */
const batch = (
  firstOffset: number,
  offsets: readonly number[],
  { lastOffsetDelta = (offsets.at(-1) ?? 0) - firstOffset, isControlRecord = false } = {},
): Message[] =>
  offsets.map((offset) => ({
    offset: String(offset),
    timestamp: '1',
    key: null,
    value: Buffer.from(String(offset)),
    headers: {},
    isControlRecord,
    batchContext: {
      producerId: '7',
      inTransaction: false,
      firstOffset: String(firstOffset),
      lastOffsetDelta,
    },
  }));
const read = (messages: Message[], from: number) => {
  const found = logBatch({ partition: 3, messages }, from);
  return found && [found.records.map(({ offset }) => offset), found.nextOffset];
};

describe('a batch of the log', () => {
  it('has the records from the offset on, with numbers for what kafkajs has as text', () => {
    expect(logBatch({ partition: 3, messages: batch(5, [5]) }, 5)).toEqual({
      partition: 3,
      records: [{ offset: 5, timestamp: 1, key: null, value: Buffer.from('5'), headers: {} }],
      nextOffset: 6,
    });
  });

  it('drops what the broker gives from before', () => {
    expect(read(batch(5, [5, 6, 7]), 6)).toEqual([[6, 7], 8]);
  });

  it('is none when all lies before, or there is nothing', () => {
    expect(read(batch(5, [5, 6]), 7)).toBeUndefined();
    expect(read([], 0)).toBeUndefined();
  });

  it('goes on behind control records, though it has no data', () => {
    expect(read(batch(5, [5], { isControlRecord: true }), 5)).toEqual([[], 6]);
  });

  it('goes on behind records that were compacted away at the end of a batch', () => {
    expect(read(batch(5, [5, 6], { lastOffsetDelta: 9 }), 5)).toEqual([[5, 6], 15]);
    expect(read(batch(5, [5, 6], { lastOffsetDelta: 9 }), 7)).toEqual([[], 15]);
  });

  it('leaves out what belongs to aborted transactions, though they began before', () => {
    const messages = [...batch(5, [5, 6]), ...batch(7, [7], { isControlRecord: true })];
    const fetched = {
      partition: 3,
      messages,
      abortedTransactions: [{ producerId: '7', firstOffset: '5' }],
    };
    expect(logBatch(fetched, 6)).toMatchObject({ records: [], nextOffset: 8 });
  });

  it('takes the last record for the end of a batch of an old format', () => {
    const [message] = batch(0, [4]);
    const old = { ...message, batchContext: { producerId: '-1', inTransaction: false } } as Message;
    expect(read([old], 4)).toEqual([[4], 5]);
  });
});
