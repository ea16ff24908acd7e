import { describe, expect, it } from '@jest/globals';
import { AtOnce } from './at-once.js';

/** Work that ends when it is told to; `begun` holds what has begun. */
function fixture(most: number, longMs?: number) {
  const atOnce = new AtOnce(most, longMs);
  const begun: number[] = [];
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const run = (index: number) =>
    atOnce.run(() => {
      begun.push(index);
      return new Promise<void>((resolve, reject) => (ends[index] = { resolve, reject }));
    });
  const turn = () => new Promise(setImmediate);
  return { run, begun, ends, turn };
}

describe('work of which so much runs at once', () => {
  it('waits for its turn, in order, also behind work that fails', async () => {
    const { run, begun, ends, turn } = fixture(2);
    const all = Promise.allSettled([0, 1, 2, 3].map(run));
    await turn();
    expect(begun).toEqual([0, 1]);
    ends[1]?.reject(new Error('no'));
    await turn();
    expect(begun).toEqual([0, 1, 2]);
    ends[0]?.resolve();
    await turn();
    expect(begun).toEqual([0, 1, 2, 3]);
    ends[2]?.resolve();
    ends[3]?.resolve();
    expect((await all).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
  });

  it('does not wait for ever behind work that hangs, which gives its place up only once', async () => {
    const { run, begun, ends, turn } = fixture(1, 1);
    const all = Promise.all([run(0), run(1)]);
    const end = performance.now() + 60_000;
    while (begun.length < 2 && performance.now() < end) await turn();
    expect(begun).toEqual([0, 1]);
    ends[0]?.resolve();
    ends[1]?.resolve();
    await all;
    void run(2);
    void run(3);
    await turn();
    expect(begun).toEqual([0, 1, 2]);
    ends[2]?.resolve();
    await turn();
    ends[3]?.resolve();
  });
});
