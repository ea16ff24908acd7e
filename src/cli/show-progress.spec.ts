import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { RunProgress } from '../generations/progress.js';
import { showProgress } from './show-progress.js';

/** What is written while a run tells this each second. */
async function written(progress: (second: number) => RunProgress, seconds: number, isTTY = false) {
  const stream = Object.assign(new PassThrough(), { isTTY });
  let second = 0;
  const work = (onProgress: (progress: RunProgress) => void) => {
    for (; second < seconds; second++) onProgress(progress(second));
    return Promise.resolve();
  };
  await showProgress(work, { stream, now: () => second * 1_000 });
  return (stream.read() as Buffer | null)?.toString() ?? '';
}

const RATE = 1_000;
/** So many records more are left each second. */
const growing = (growth: number) => (second: number) => {
  const left = 20_000 + growth * second;
  const done = RATE * second;
  const secondsLeft = growth < 0 ? Math.ceil(left / -growth) : null;
  return { done, total: done + left, rate: RATE, secondsLeft };
};
const WORD = /^ranklog: live events come as fast .* ([\d,]+) records are left.* --throttle/gm;

describe('the progress of a run', () => {
  it('tells once that the log grows as fast as it is read', async () => {
    for (const growth of [0, 500]) {
      const words = [...(await written(growing(growth), 100)).matchAll(WORD)];
      expect(words.map(([, left]) => left)).toEqual([growth === 0 ? '20,000' : '35,000']);
    }
    const onTerminal = await written(growing(0), 100, true);
    expect(onTerminal).toContain('\r\u001b[Kranklog: live events come as fast');
  });

  it('tells nothing of that before half a minute, nor while it comes nearer, waits, or is close to its end', async () => {
    const waits = (second: number) => ({ ...growing(500)(second), rate: 0 });
    const isClose = (second: number) => ({ ...growing(0)(second), total: RATE * second + 9_000 });
    const isNearerOnce = (second: number) => growing(second % 20 === 0 ? -1 : 500)(second);
    for (const progress of [growing(-10), waits, isClose, isNearerOnce])
      expect(await written(progress, 100)).not.toMatch(WORD);
    expect(await written(growing(500), 30)).not.toMatch(WORD);
  });
});
