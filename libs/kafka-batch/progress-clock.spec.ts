import { describe, expect, it } from '@jest/globals';
import { ProgressClock } from './progress-clock.js';

/** A clock at 0 ms; each step takes a second. */
function clockAt() {
  let now = 0;
  const clock = new ProgressClock(() => now);
  return { clock, wait: () => void (now += 1_000) };
}

describe('ProgressClock', () => {
  it('counts from the begin of a start to its end', () => {
    const { clock, wait } = clockAt();
    expect(clock.stuckMs).toBe(0);
    clock.working();
    wait();
    expect(clock.stuckMs).toBe(1_000);
    clock.started(5);
    expect(clock.stuckMs).toBe(0);
  });

  it('counts anew for each batch that is finished while more wait, and not once none does', () => {
    const { clock, wait } = clockAt();
    clock.started(0);
    clock.taken(10);
    wait();
    clock.finished(10, true);
    expect(clock.stuckMs).toBe(0);
    wait();
    expect(clock.stuckMs).toBe(1_000);
    clock.taken(20);
    clock.finished(20, false);
    wait();
    expect(clock.stuckMs).toBe(0);
  });

  it('takes starts at the same offset for no progress, nor what the one before had in hand', () => {
    const { clock, wait } = clockAt();
    for (let start = 0; start < 3; start++) {
      clock.working();
      clock.started(7);
      clock.taken(10);
      clock.finished(10, false);
      if (start === 0) expect(clock.stuckMs).toBe(0);
      clock.taken(20);
      wait();
    }
    expect(clock.stuckMs).toBe(3_000);
    clock.started(7);
    clock.taken(25);
    clock.finished(25, false);
    expect(clock.stuckMs).toBe(0);
  });

  it.each([
    ['behind', 10],
    ['before, to read again what was lost,', 0],
  ])('takes a start at an offset %s for progress', (_, offset) => {
    const { clock, wait } = clockAt();
    clock.started(7);
    clock.taken(20);
    wait();
    clock.started(offset);
    expect(clock.stuckMs).toBe(0);
  });

  it('begins again when a handler says that it waits on purpose', () => {
    const { clock, wait } = clockAt();
    clock.progress();
    wait();
    expect(clock.stuckMs).toBe(0);
    clock.taken(1);
    wait();
    clock.progress();
    wait();
    expect(clock.stuckMs).toBe(1_000);
  });
});
