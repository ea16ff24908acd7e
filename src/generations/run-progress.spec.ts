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

describe('what a run of several boards tells', () => {
  it('is reported by board to the lease, and the slowest board to the caller', () => {
    const clock = { ms: 0 };
    const { reporter, noted, told } = reporterAt(clock);
    reporter.count('large', { done: 0, total: 1_000 });
    reporter.count('small', { done: 0, total: 600 });
    clock.ms = 1_000;
    reporter.count('large', { done: 300, total: 1_000 });
    reporter.count('small', { done: 100, total: 600 });
    const slow = { done: 300, total: 1_000, rate: 300, secondsLeft: 3 };
    expect(told()).toEqual(slow);
    expect(noted.get('large')).toEqual(slow);
    expect(noted.get('small')).toEqual({ done: 100, total: 600, rate: 100, secondsLeft: 5 });
    reporter.count('large', { done: 600, total: 1_000 });
    expect(told()).toMatchObject({ done: 100, total: 600 });
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
