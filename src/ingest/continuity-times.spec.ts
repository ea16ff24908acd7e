import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  decodeTimes,
  encodeTimes,
  latestTimes,
  replacedError,
  timeOf,
} from './continuity-times.js';

const anyTimes = fc.array(fc.nat(Number.MAX_SAFE_INTEGER), { maxLength: 256 });

describe('the times of continuity tokens', () => {
  it('are kept by the metadata of an offset, which takes 4,096 bytes', () => {
    fc.assert(
      fc.property(anyTimes, (times) => {
        const metadata = encodeTimes(times);
        expect(decodeTimes(metadata)).toEqual(times);
        expect(metadata.length).toBeLessThanOrEqual(4_096);
      }),
    );
  });

  it('of 64 shards take less than 1 KB', () => {
    expect(encodeTimes(Array<number>(64).fill(Date.now() * 1_000)).length).toBeLessThan(1_024);
  });

  it.each(['', 'AAAA', 'checkpoint', '//////////8='])(
    'are unknown in the metadata "%s"',
    (metadata) => {
      expect(decodeTimes(metadata)).toEqual([]);
    },
  );

  it('of two servers give the later one for each shard', () => {
    expect(latestTimes([1, 5], [4, 2, 3])).toEqual([4, 5, 3]);
  });

  it('show a server that another one has replaced', () => {
    const used = timeOf('0123abcd 1000000');
    expect(replacedError(1, used, [9_000_000, 1_000_000])).toBeUndefined();
    expect(replacedError(1, used, [])).toBeUndefined();
    expect(replacedError(1, used, [0, 1_000_001])).toMatchObject({ shard: 1, usedAt: 1_000_000 });
  });
});
