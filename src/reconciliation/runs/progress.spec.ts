import { describe, expect, it } from '@jest/globals';
import { ProgressMeter, ProgressReporter, type RunProgress } from './progress.js';

describe('the progress of a reconciliation', () => {
  const meterAt = (clock: { ms: number }) => new ProgressMeter(() => clock.ms);

  it('estimates neither the rate nor the time left before a second has passed', () => {
    const clock = { ms: 0 };
    const meter = meterAt(clock);
    expect(meter.note({ done: 0, total: 100 })).toEqual({
      done: 0,
      total: 100,
      rate: 0,
      secondsLeft: null,
    });
    clock.ms = 900;
    expect(meter.note({ done: 50, total: 100 })).toMatchObject({ rate: 0, secondsLeft: null });
    clock.ms = 1_000;
    expect(meter.note({ done: 50, total: 100 })).toMatchObject({ rate: 50, secondsLeft: 1 });
  });

  it('has the rate of the last seconds, not of the whole reconciliation', () => {
    const clock = { ms: 0 };
    const meter = meterAt(clock);
    let done = 0;
    for (; clock.ms <= 60_000; clock.ms += 500)
      meter.note({ done: (done += 500), total: 1_000_000 });
    for (; clock.ms <= 70_000; clock.ms += 500)
      meter.note({ done: (done += 50), total: 1_000_000 });
    expect(meter.note({ done: done, total: 1_000_000 }).rate).toBeLessThanOrEqual(100);
  });

  it('leaves out of the rate what was done before the first count', () => {
    const clock = { ms: 0 };
    const meter = meterAt(clock);
    meter.note({ done: 1_000_000, total: 2_000_000 });
    clock.ms = 1_000;
    expect(meter.note({ done: 1_001_000, total: 2_000_000 })).toMatchObject({
      rate: 1_000,
      secondsLeft: 999,
    });
  });

  it('takes the growth of the log into account: if the log grows as fast as it is read, the time left is unknown', () => {
    const clock = { ms: 0 };
    const growing = meterAt(clock);
    const outrun = meterAt(clock);
    growing.note({ done: 0, total: 1_000 });
    outrun.note({ done: 0, total: 1_000 });
    clock.ms = 1_000;
    expect(growing.note({ done: 200, total: 1_100 })).toMatchObject({ rate: 200, secondsLeft: 9 });
    expect(outrun.note({ done: 200, total: 1_200 })).toMatchObject({
      rate: 200,
      secondsLeft: null,
    });
  });

  it('rounds the time left up to a whole second', () => {
    const clock = { ms: 0 };
    const meter = meterAt(clock);
    meter.note({ done: 0, total: 1_000 });
    clock.ms = 1_000;
    expect(meter.note({ done: 999, total: 1_000 }).secondsLeft).toBe(1);
  });

  it('has zero seconds left when nothing is left to do', () => {
    expect(meterAt({ ms: 0 }).note({ done: 0, total: 0 }).secondsLeft).toBe(0);
  });
});

/** A reporter, what it noted for each board, and its last report to the caller. */
function reporterAt(clock: { ms: number }) {
  const noted = new Map<string, object>();
  let reported: RunProgress | undefined;
  const keeper = { note: (board: string, facts: object) => void noted.set(board, facts) };
  const onProgress = (progress: RunProgress) => (reported = progress);
  const reporter = new ProgressReporter(keeper, onProgress, () => clock.ms);
  return { reporter, noted, reported: () => reported };
}

describe('the progress of a reconciliation of several boards', () => {
  it('is noted in the status of each board; the caller gets that of the board with most records left', () => {
    const clock = { ms: 0 };
    const { reporter, noted, reported } = reporterAt(clock);
    const count = (large: number, small: number) =>
      reporter.count(
        new Map([
          ['small', { done: small, total: 600 }],
          ['large', { done: large, total: 1_000 }],
        ]),
      );
    count(0, 0);
    clock.ms = 1_000;
    count(300, 100);
    const slow = { done: 300, total: 1_000, rate: 300, secondsLeft: 3 };
    expect(reported()).toEqual(slow);
    expect(noted.get('large')).toEqual(slow);
    expect(noted.get('small')).toEqual({ done: 100, total: 600, rate: 100, secondsLeft: 5 });
    count(600, 100);
    expect(reported()).toMatchObject({ done: 100, total: 600 });
  });

  it('counts the places that are compared or ranked', () => {
    const { reporter, reported } = reporterAt({ ms: 0 });
    const arena = new Map([['arena', { done: 5, total: 5 }]]);
    reporter.count(arena);
    expect(reported()).toEqual({ done: 5, total: 5, rate: 0, secondsLeft: 0 });
    // The last ranking is a new one
    for (const places of [300, 500, 100]) reporter.setPlaces('ranked', places);
    reporter.count(arena);
    expect(reported()).toMatchObject({ places: { done: 'ranked', count: 100 } });
  });
});
