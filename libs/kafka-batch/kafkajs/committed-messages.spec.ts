import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { RawMessage } from 'kafkajs/src/broker/index.js';
import { logBatch, markAborted } from './committed-messages.js';

const ZEROS = Buffer.alloc(4);
const ABORT_KEY = Buffer.from([0, 0, 0, 0]);
const COMMIT_KEY = Buffer.from([0, 0, 0, 1]);

type Fate = 'committed' | 'aborted';

/** A log of several producers, each with one transaction at a time. */
class Log {
  readonly messages: RawMessage[] = [];
  readonly aborted: { producerId: string; firstOffset: string; end: number }[] = [];
  /** The outcome of each data record. */
  readonly fates = new Map<string, Fate>();
  readonly #open = new Map<number, number[]>();

  write(producer: number, key: Buffer | null): void {
    const offset = this.#append(producer, key, false);
    this.#open.set(producer, [...(this.#open.get(producer) ?? []), offset]);
  }

  writePlain(producer: number, key: Buffer | null): void {
    this.fates.set(String(this.#append(producer, key, false)), 'committed');
  }

  end(producer: number, fate: Fate): void {
    const offsets = this.#open.get(producer);
    if (offsets === undefined) return;
    this.#open.delete(producer);
    const end = this.#append(producer, fate === 'aborted' ? ABORT_KEY : COMMIT_KEY, true);
    for (const offset of offsets) this.fates.set(String(offset), fate);
    if (fate === 'aborted')
      this.aborted.push({ producerId: String(producer), firstOffset: String(offsets[0]), end });
  }

  endAll(): void {
    for (const producer of this.#open.keys()) this.end(producer, 'committed');
  }

  /**
   * Answers as a broker does: the records of a range, and the aborted transactions that overlap
   * with it, ordered by their ends.
   */
  fetch(from: number, to: number) {
    return {
      messages: this.messages.slice(from, to),
      abortedTransactions: this.aborted.filter(
        ({ firstOffset, end }) => end >= from && Number(firstOffset) < to,
      ),
    };
  }

  committed(from: number, to: number): string[] {
    const offsets = this.messages.slice(from, to).map(({ offset }) => offset);
    return offsets.filter((offset) => this.fates.get(offset) === 'committed');
  }

  #append(producer: number, key: Buffer | null, isControlRecord: boolean): number {
    const offset = this.messages.length;
    this.messages.push({
      ...{ offset: String(offset), timestamp: '1', key, value: null },
      isControlRecord,
      batchContext: { producerId: String(producer) },
    });
    return offset;
  }
}

const step = fc.record({
  producer: fc.integer({ min: 1, max: 3 }),
  act: fc.constantFrom('write', 'write', 'plain', 'commit', 'abort'),
  key: fc.constantFrom(null, ZEROS, Buffer.from('k')),
});

function logOf(steps: readonly { producer: number; act: string; key: Buffer | null }[]): Log {
  const log = new Log();
  for (const { producer, act, key } of steps) {
    if (act === 'write') log.write(producer, key);
    else if (act === 'plain')
      log.writePlain(9, key); // a producer without transactions
    else log.end(producer, act === 'commit' ? 'committed' : 'aborted');
  }
  log.endAll();
  return log;
}

/**
 * Two transactions that begin in one order and abort in the other, and a third that commits in
 * between.
 */
function interleaved(): Log {
  return logOf([
    { producer: 1, act: 'write', key: null },
    { producer: 2, act: 'write', key: null },
    { producer: 3, act: 'write', key: null },
    { producer: 2, act: 'abort', key: null },
    { producer: 1, act: 'write', key: ZEROS },
    { producer: 1, act: 'write', key: null },
    { producer: 3, act: 'commit', key: null },
    { producer: 1, act: 'abort', key: null },
  ]);
}

/** The offsets of the data records that are not marked as aborted. */
function committed(fetched: Parameters<typeof markAborted>[0]): string[] {
  markAborted(fetched);
  return fetched.messages.flatMap(({ offset, isControlRecord }) => (isControlRecord ? [] : offset));
}

describe('markAborted', () => {
  it('marks the aborted records of any range of the log', () => {
    const property = fc.property(fc.array(step, { maxLength: 40 }), fc.nat(), fc.nat(), (...of) => {
      const [steps, one, other] = of;
      const log = logOf(steps);
      const size = log.messages.length + 1;
      const [from = 0, to = 0] = [one % size, other % size].sort((a, b) => a - b);
      expect(committed(log.fetch(from, to))).toEqual(log.committed(from, to));
    });
    fc.assert(property, { numRuns: 1_000 });
  });

  it('handles interleaved aborts and a key of four zero bytes, where kafkajs fails', () => {
    const log = interleaved();
    const fetched = log.fetch(0, log.messages.length);
    expect(committed(fetched)).toEqual(['2']);
  });

  it('accepts a response without a list of aborted transactions', () => {
    const { messages } = interleaved();
    const data = messages.filter(({ isControlRecord }) => !isControlRecord);
    const offsets = data.map(({ offset }) => offset);
    expect(committed({ messages })).toEqual(offsets);
    expect(committed({ messages, abortedTransactions: null })).toEqual(offsets);
  });
});

describe('logBatch', () => {
  /** A batch of records; `lastOffsetDelta` shows where it ended before compaction. */
  const batch = (
    firstOffset: number,
    all: readonly number[],
    { lastOffsetDelta = (all.at(-1) ?? 0) - firstOffset, isControlRecord = false } = {},
  ): RawMessage[] =>
    all.map((offset) => ({
      ...{ offset: String(offset), timestamp: '1', key: null, value: null },
      isControlRecord,
      batchContext: { producerId: '7', firstOffset: String(firstOffset), lastOffsetDelta },
    }));
  const read = (messages: RawMessage[], from: number) => {
    const found = logBatch({ partition: 3, messages }, from);
    return found && [found.records.map(({ offset }) => offset), found.nextOffset];
  };

  it('returns the records from an offset on, with numbers instead of text', () => {
    expect(logBatch({ partition: 3, messages: batch(5, [5]) }, 5)).toMatchObject({
      partition: 3,
      records: [{ offset: 5, timestamp: 1, key: null, value: null, headers: {} }],
      nextOffset: 6,
    });
  });

  it.each([
    ['drops records before the offset', batch(5, [5, 6, 7]), 6, [[6, 7], 8]],
    ['returns undefined if all records are before the offset', batch(5, [5, 6]), 7, undefined],
    ['returns undefined for an empty fetch', [], 0, undefined],
    ['moves past control records', batch(5, [5], { isControlRecord: true }), 5, [[], 6]],
    ['moves past compacted records', batch(5, [5, 6], { lastOffsetDelta: 9 }), 5, [[5, 6], 15]],
    [
      'moves past compacted records when no record is left',
      batch(5, [5, 6], { lastOffsetDelta: 9 }),
      7,
      [[], 15],
    ],
  ])('%s', (_, messages, from, expected) => {
    expect(read(messages, from)).toEqual(expected);
  });

  it('takes the last record for the end of a batch in an old format', () => {
    const [message] = batch(0, [4]);
    const old = { ...message!, batchContext: { producerId: '-1' } };
    expect(read([old], 4)).toEqual([[4], 5]);
  });
});
