import { describe, expect, it } from '@jest/globals';
import { cutPartitions, isBetween, neededFrom, startsOfRest } from './log-history.js';

const ranges = new Map([
  [1, { start: 40, end: 90 }],
  [0, { start: 0, end: 50 }],
]);

describe('the history of a log', () => {
  it('is cut in a partition that begins after the first needed offset', () => {
    expect(cutPartitions(ranges, undefined)).toEqual([{ partition: 1, from: 0, logStart: 40 }]);
    expect(cutPartitions(ranges, new Map([[1, 40]]))).toEqual([]);
  });

  it('may lack records of a time or later if the first offset found for that time is the first one left', () => {
    const needed = neededFrom(
      new Map([
        [0, 0],
        [1, 40],
      ]),
      ranges,
    );
    expect([...needed]).toEqual([
      [0, 0],
      [1, 39],
    ]);
    expect([...neededFrom(new Map([[1, 41]]), ranges)]).toEqual([[1, 41]]);
  });

  it('begins, if it is cut, at the first offset left, or at a later start that was asked for', () => {
    expect([...startsOfRest(undefined, ranges)].sort()).toEqual([
      [0, 0],
      [1, 40],
    ]);
    expect([...startsOfRest(new Map([[1, 60]]), ranges)].sort()).toEqual([
      [0, 0],
      [1, 60],
    ]);
  });
});

describe('the starts of generations', () => {
  it('are the same if one omits a partition that begins at offset 0 in the other', () => {
    expect(isBetween(new Map([[0, 0]]), undefined, undefined)).toBe(true);
    expect(isBetween(new Map([[0, 1]]), undefined, undefined)).toBe(false);
  });

  it('are compared partition by partition', () => {
    const least = new Map([[0, 5]]);
    const most = new Map([
      [0, 5],
      [1, 9],
    ]);
    expect(isBetween(new Map([[0, 5]]), least, most)).toBe(true);
    expect(isBetween(most, least, most)).toBe(true);
    expect(isBetween(new Map([[0, 4]]), least, most)).toBe(false);
    expect(isBetween(new Map([...least, [1, 10]]), least, most)).toBe(false);
  });
});
