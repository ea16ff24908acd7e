import { describe, expect, it } from '@jest/globals';
import { ProgressReporter, type RunProgress } from './run-progress.js';

/** What a teller says of boards: to their leases, and last to its caller. */
function reporterAt(clock: { ms: number }) {
  const noted = new Map<string, object>();
  let told: RunProgress | undefined;
  const keeper = { note: (board: string, facts: object) => void noted.set(board, facts) };
  const onProgress = (progress: RunProgress) => (told = progress);
  const reporter = new ProgressReporter(keeper, onProgress, () => clock.ms);
  return { reporter, noted, told: () => told };
}

const ordering = (done: number, total: number) => ({ done, total, isBegun: true });

describe('what a run of several boards tells', () => {
  it('is each board by its lease, and the slowest to the caller: players are work as records are', () => {
    const clock = { ms: 0 };
    const { reporter, noted, told } = reporterAt(clock);
    const count = (large: number, small: number) => {
      reporter.count('large', { done: 100, total: 100, ordering: ordering(large, 1_000) });
      reporter.count('small', { done: small, total: 600 });
    };
    count(0, 0);
    clock.ms = 1_000;
    count(300, 100);
    const slow = {
      ...{ done: 100, total: 100, rate: 0, secondsLeft: 3 },
      ordering: { done: 300, total: 1_000, rate: 300 },
    };
    expect(told()).toEqual(slow);
    expect(noted.get('large')).toEqual(slow);
    expect(noted.get('small')).toEqual({ done: 100, total: 600, rate: 100, secondsLeft: 5 });
    count(600, 150);
    expect(told()).toMatchObject({ done: 150, total: 600 });
  });

  it('comes with the number of compared places', () => {
    const { reporter, told } = reporterAt({ ms: 0 });
    reporter.count('arena', { done: 5, total: 5 });
    expect(told()).toEqual({ done: 5, total: 5, rate: 0, secondsLeft: 0 });
    reporter.compare(500);
    reporter.count('arena', { done: 5, total: 5 });
    expect(told()).toMatchObject({ compared: 500 });
  });
});
