import { describe, expect, it } from '@jest/globals';
import { Backoff } from './backoff.js';

const waits = (backoff: Backoff, count: number) =>
  Array.from({ length: count }, () => backoff.next());

describe('Backoff', () => {
  it('doubles up to its limit, and starts again after a reset', () => {
    const backoff = new Backoff({ firstMs: 100, maxMs: 500 }, () => 0);
    expect(waits(backoff, 4)).toEqual([100, 200, 400, 500]);
    backoff.reset();
    expect(waits(backoff, 2)).toEqual([100, 200]);
  });

  it('is shortened by up to a half, so that instances do not retry together', () => {
    expect(waits(new Backoff({ firstMs: 100, maxMs: 500 }, () => 1), 3)).toEqual([50, 100, 200]);
  });
});
