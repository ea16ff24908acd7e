import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { RunProgress } from '../../reconciliation/runs/progress.js';
import { ProgressBar, ReconciliationBar, type ProgressFacts } from './progress-bar.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** A bar with a clock that `at` sets, in seconds. */
function barOf({ total, isTTY = false }: { total: number; isTTY?: boolean }) {
  let seconds = 0;
  const stream = Object.assign(new PassThrough(), { isTTY });
  const bar = new ProgressBar('records', total, stream);
  return {
    at: (time: number, done: number, facts?: ProgressFacts) => {
      jest.advanceTimersByTime(Math.round((time - seconds) * 1_000));
      seconds = time;
      bar.update(done, facts);
    },
    written: () => (stream.read() as Buffer | null)?.toString() ?? '',
    stop: () => bar[Symbol.dispose](),
  };
}

describe('ProgressBar', () => {
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

  it('shows the total, rate, time left and note that it is given', () => {
    const bar = barOf({ total: 100 });
    bar.at(10, 50, { total: 200, rate: 3, secondsLeft: 600 });
    expect(bar.written()).toBe('25 %  50 records, 3/s, about 10 min left\n');
    bar.at(20, 50, { secondsLeft: null, note: ', 9 places compared' });
    expect(bar.written()).toBe('25 %  50 records, 3/s, 9 places compared\n');
  });

  it('shows no percentage and no time left without a total', () => {
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

/** What a ReconciliationBar writes for work that reports this progress every second. */
function written(progress: (second: number) => RunProgress, seconds: number, isTTY = false) {
  const stream = Object.assign(new PassThrough(), { isTTY });
  const bar = new ReconciliationBar(stream);
  for (let second = 0; second < seconds; second++) {
    bar.onProgress(progress(second));
    jest.advanceTimersByTime(1_000);
  }
  bar[Symbol.dispose]();
  return (stream.read() as Buffer | null)?.toString() ?? '';
}

const RATE = 1_000;
/** Progress at which the number of records left grows by `growth` per second. */
const growing = (growth: number) => (second: number) => {
  const left = 20_000 + growth * second;
  const done = RATE * second;
  const secondsLeft = growth < 0 ? Math.ceil(left / -growth) : null;
  return { done, total: done + left, rate: RATE, secondsLeft };
};
const WARNING =
  /^ranklog: the log grows at least as fast .* ([\d,]+) records are left.* --throttle/gm;

describe('ReconciliationBar', () => {
  it('shows how many places are ranked', () => {
    const places = { done: 'ranked' as const, count: 9_000 };
    const text = written((second) => ({ ...growing(-RATE)(second), places }), 1, true);
    expect(text).toContain(', 9,000 places ranked');
  });

  it('warns once that the log grows as fast as it is read', () => {
    for (const growth of [0, 500]) {
      const warnings = [...written(growing(growth), 100).matchAll(WARNING)];
      expect(warnings.map(([, left]) => left)).toEqual([growth === 0 ? '20,000' : '35,000']);
    }
    const onTerminal = written(growing(0), 100, true);
    expect(onTerminal).toContain('\r\u001b[Kranklog: the log grows at least as fast');
  });

  it('does not warn in the first 30 s, nor while the records left become fewer, none are read, or few are left', () => {
    const waits = (second: number) => ({ ...growing(500)(second), rate: 0 });
    const isClose = (second: number) => ({ ...growing(0)(second), total: RATE * second + 9_000 });
    const isNearerOnce = (second: number) => growing(second % 20 === 0 ? -1 : 500)(second);
    for (const progress of [growing(-10), waits, isClose, isNearerOnce])
      expect(written(progress, 100)).not.toMatch(WARNING);
    expect(written(growing(500), 30)).not.toMatch(WARNING);
  });
});
