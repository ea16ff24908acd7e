import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import Decoder from 'kafkajs/src/protocol/decoder.js';
import crc32C from 'kafkajs/src/protocol/recordBatch/crc32C/index.js';
import decodeBatch from 'kafkajs/src/protocol/recordBatch/v0/decoder.js';
import { BatchEncoder, stamp, type OutgoingRecord } from './record-batch.js';

const PRODUCER = { producerId: '9007199254740993', producerEpoch: 3 };

const text = fc.string({ unit: 'grapheme', maxLength: 100 });
const content = fc.oneof(
  text,
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
);
/** Names and values that occur again: their bytes are kept. */
const repeatedHeaders = fc.dictionary(
  fc.constantFrom('ce_id', 'ce_type', 'ce_source'),
  fc.constantFrom('', 'a', 'é', Buffer.from('a'), 'x'.repeat(9_000)),
);
const someRecords: fc.Arbitrary<OutgoingRecord[]> = fc.array(
  fc.record({
    key: fc.option(content, { nil: null }),
    value: fc.option(content, { nil: null }),
    headers: fc.oneof(
      repeatedHeaders,
      fc.dictionary(
        text.map((name) => `h${name}`), // kafkajs misreads names like toString
        fc.oneof(content, fc.array(content, { minLength: 2, maxLength: 3 })),
      ),
    ),
  }),
  { minLength: 1, maxLength: 40 },
);

const bytesOf = (part: Buffer | string | null | undefined) => {
  return typeof part === 'string' ? Buffer.from(part) : (part ?? null);
};
const plain = ({ key, value, headers = {} }: OutgoingRecord) => ({
  key: bytesOf(key),
  value: bytesOf(value),
  headers: Object.entries(headers).map(([name, values]) => [name, [values].flat().map(bytesOf)]),
});

function encodeBatches(records: readonly OutgoingRecord[], maxBytes?: number) {
  const encoder = new BatchEncoder(maxBytes);
  for (const record of records) encoder.add(record);
  return encoder.close();
}

describe('BatchEncoder', () => {
  it('writes what the decoder of kafkajs reads, in batches within the limit', async () => {
    await fc.assert(
      fc.asyncProperty(someRecords, fc.integer({ min: 61, max: 9_000 }), async (given, limit) => {
        const begun = Date.now();
        const batches = encodeBatches(given, limit);
        const read: unknown[] = [];
        for (const batch of batches) {
          stamp(batch, { producerId: '1', producerEpoch: 1 }, 1);
          stamp(batch, PRODUCER, 2 ** 31 - 1);
          const { bytes, count } = batch;
          expect(bytes.readUInt32BE(17)).toBe(crc32C(bytes.subarray(21)));
          const { records, ...fields } = await decodeBatch(new Decoder(bytes));
          const now = bytes.readBigInt64BE(27);
          expect(Number(now)).toBeGreaterThanOrEqual(begun);
          expect(Number(now)).toBeLessThanOrEqual(Date.now());
          expect(fields).toMatchObject({
            ...{ ...PRODUCER, firstSequence: 2 ** 31 - 1, inTransaction: true },
            ...{ firstOffset: '0', lastOffsetDelta: count - 1 },
            ...{ firstTimestamp: String(now), maxTimestamp: String(now) },
          });
          expect(records.map(({ offset }) => Number(offset))).toEqual([...records.keys()]);
          expect(records).toHaveLength(count);
          if (count > 1) expect(bytes.length).toBeLessThanOrEqual(limit);
          read.push(...records.map(plain));
        }
        expect(read).toEqual(given.map(plain));
      }),
    );
  });

  it('fills batches up to the limit', () => {
    const records = Array.from({ length: 9 }, () => ({ key: 'k', value: 'x'.repeat(1_000) }));
    const bytes = encodeBatches(records).map((batch) => batch.bytes.length)[0] ?? 0;
    const counts = (limit: number) => encodeBatches(records, limit).map(({ count }) => count);
    expect([counts(bytes), counts(bytes - 1), counts(1)]).toEqual([[9], [8, 1], Array(9).fill(1)]);
  });
});
