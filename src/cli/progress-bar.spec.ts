import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { ProgressBar, type ProgressFacts } from './progress-bar.js';

/** A bar beside a clock that `at` sets, in seconds. */
function barOf({ total, isTTY = false }: { total: number; isTTY?: boolean }) {
  let seconds = 0;
  const stream = Object.assign(new PassThrough(), { isTTY });
  const bar = new ProgressBar('records', total, { stream, now: () => seconds * 1_000 });
  return {
    at: (time: number, done: number, facts?: ProgressFacts) => {
      seconds = time;
      bar.update(done, facts);
    },
    written: () => (stream.read() as Buffer | null)?.toString() ?? '',
    stop: () => bar.stop(),
  };
}

describe('the progress bar', () => {
  it('writes a line every ten seconds where there is no terminal, with rate and time left', () => {
    const bar = barOf({ total: 100_000 });
    bar.at(1, 1_000);
    bar.at(9.9, 9_900);
    expect(bar.written()).toBe('');
    bar.at(10, 10_000);
    bar.at(15, 15_000);
    expect(bar.written()).toBe('10 %  10,000 records, 1,000/s, about 90 s left\n');
    bar.at(20, 100_000);
    expect(bar.written()).toBe('100 %  100,000 records, 5,000/s\n');
  });

  it('tells what it is told: another count, a total that grows, a rate, the time left', () => {
    const bar = barOf({ total: 100 });
    bar.at(10, 50, { count: 7, total: 200, rate: 3, secondsLeft: 600 });
    expect(bar.written()).toBe('25 %  7 records, 3/s, about 10 min left\n');
    bar.at(20, 50, { secondsLeft: null, note: ', 9 places compared' });
    expect(bar.written()).toBe('25 %  50 records, 3/s, 9 places compared\n');
  });

  it('says nothing of an end that nobody knows', () => {
    const bar = barOf({ total: 0 });
    bar.at(10, 500);
    expect(bar.written()).toBe('500 records, 50/s\n');
  });

  it('draws a bar on a terminal', () => {
    const bar = barOf({ total: 100, isTTY: true });
    bar.at(1, 25);
    bar.stop();
    expect(bar.written()).toMatch(/25 % {2}25 records, 25\/s, about 3 s left/);
  });
});
