import { describe, expect, it } from '@jest/globals';
import { ProgressClock } from './progress-clock.js';

/** A clock at 0 ms; each `wait` adds a second. */
function clockAt() {
  let now = 0;
  const clock = new ProgressClock(() => now);
  return { clock, wait: () => void (now += 1_000) };
}

describe('ProgressClock', () => {
  it('counts the time that a start takes', () => {
    const { clock, wait } = clockAt();
    expect(clock.stuckMs).toBe(0);
    clock.working();
    wait();
    expect(clock.stuckMs).toBe(1_000);
    clock.started(5);
    expect(clock.stuckMs).toBe(0);
  });

  it('starts anew with each finished batch while more wait, and stops without work', () => {
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

  it('does not take a restart at the same offset, or the same records again, for progress', () => {
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
    ['after the previous one', 10],
    ['before the previous one', 0],
  ])('takes a start at an offset %s for progress', (_, offset) => {
    const { clock, wait } = clockAt();
    clock.started(7);
    clock.taken(20);
    wait();
    clock.started(offset);
    expect(clock.stuckMs).toBe(0);
  });

  it('starts anew when a handler reports progress', () => {
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
