import { describe, expect, it } from '@jest/globals';
import { AtOnce } from './at-once.js';

/** Work that the test ends; `begun` holds the work that has begun. */
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

describe('work with a limit on how much runs at once', () => {
  it('starts in order, also after work that fails', async () => {
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

  it('does not wait forever for work that hangs, which frees its place only once', async () => {
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
