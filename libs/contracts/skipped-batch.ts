import type { RawRecord } from './record.js';

/**
 * A batch of the score topic that an operator has given up, because it can't be read: no reader
 * ever reads its offsets.
 */
export interface SkippedBatch {
  readonly partition: number;
  readonly first: number;
  readonly last: number;
  /** CRC of the batch. If the topic was recreated, readers read the new batch at these offsets. */
  readonly crc: number;
}

/** The keys of these records begin with this. No board name has a control character. */
const KEY = '\u0000skip ';

/** The record of a skipped batch, without a `board`, so that readers of definitions ignore it. */
export function encodeSkippedBatch({ partition, first, last, crc }: SkippedBatch) {
  const value = JSON.stringify({ partition, first, last, crc });
  return { key: `${KEY}${partition}/${first}`, value };
}

const VALUE = /^\{"partition":(\d+),"first":(\d+),"last":(\d+),"crc":(\d+)\}$/;

/** Returns undefined for a record that encodeSkippedBatch has not made. */
export function decodeSkippedBatch(record: Pick<RawRecord, 'key' | 'value'>) {
  const key = record.key?.toString();
  const [, ...texts] = VALUE.exec(record.value?.toString() ?? '') ?? [];
  const [partition = NaN, first = NaN, last = NaN, crc = NaN] = texts.map(Number);
  const batch = { partition, first, last, crc };
  return encodeSkippedBatch(batch).key === key ? batch : undefined;
}
