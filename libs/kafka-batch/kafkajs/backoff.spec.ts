import { describe, expect, it } from '@jest/globals';
import { Backoff } from './backoff.js';

const waits = (backoff: Backoff, count: number) =>
  Array.from({ length: count }, () => backoff.next());

describe('Backoff', () => {
  it('doubles its waits up to the limit, and begins with the first wait again after a reset', () => {
    const backoff = new Backoff({ firstMs: 100, maxMs: 500 }, () => 0);
    expect(waits(backoff, 4)).toEqual([100, 200, 400, 500]);
    backoff.reset();
    expect(waits(backoff, 2)).toEqual([100, 200]);
  });

  it('shortens each wait by up to a half, so that instances do not retry together', () => {
    expect(waits(new Backoff({ firstMs: 100, maxMs: 500 }, () => 1), 3)).toEqual([50, 100, 200]);
  });
});
