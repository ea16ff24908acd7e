import { expect, it } from '@jest/globals';
import { IDENTITY_KEY } from './definition-record.js';
import { decodeSkippedBatch, encodeSkippedBatch } from './skipped-batch.js';

const BATCH = { partition: 3, first: 17, last: 23, crc: 4_000_000_000 };
const decode = (key: string | null, value: string | null) =>
  decodeSkippedBatch({
    key: key === null ? null : Buffer.from(key),
    value: value === null ? null : Buffer.from(value),
  });

it('a skipped batch is read as it was written; any other record is none', () => {
  const { key, value } = encodeSkippedBatch(BATCH);
  expect(decode(key, value)).toEqual(BATCH);
  for (const [otherKey, otherValue] of [
    [null, null],
    ['arena', value],
    [IDENTITY_KEY, value],
    [`${key}1`, value],
    [key, null],
    [key, `${value} `],
    [key, value.replace('23', '"23"')],
  ] as const)
    expect(decode(otherKey, otherValue)).toBeUndefined();
});
