import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  decodeTimes,
  encodeTimes,
  latestTimes,
  requireNewest,
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

  it('show servers that other ones have replaced', () => {
    const used = [timeOf('0123abcd 1000000'), 5, 7].entries();
    const check = (newest: number[]) => () => {
      requireNewest([...[1_000_000, 5, 7].entries()], newest);
    };
    expect([...used][0]).toEqual([0, 1_000_000]);
    expect(check([1_000_000, 5])).not.toThrow();
    expect(check([])).not.toThrow();
    expect(check([9, 6, 8])).toThrow(/^shard 1 \(and 1 more\) is on a Redis server/);
  });
});
