import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Throttle } from './throttle.js';

const RATE = 10_000;

describe('a rate', () => {
  let now: number;
  beforeEach(() => {
    now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** Whether so many events may go without a turn of the event loop in between. */
  const goAtOnce = async (throttle: Throttle, events: number) => {
    let isOver = false;
    const going = throttle.next(events).then(() => (isOver = true));
    await new Promise((resolve) => setImmediate(resolve));
    const wasOver = isOver;
    await going;
    return wasOver;
  };
  /** How long so many events have to wait, in ms of a clock that stands still. */
  const wait = async (throttle: Throttle, events: number) => {
    const begun = Date.now();
    await throttle.next(events);
    return Date.now() - begun;
  };
  /** Of a tenth of a second; timers may be early by a part of a ms. */
  const MS = 95;

  it('lets so many events go a second, in calls of any size', async () => {
    const throttle = new Throttle(RATE);
    expect(await goAtOnce(throttle, RATE / 10)).toBe(true);
    expect(await wait(throttle, 1)).toBeGreaterThanOrEqual(MS);
    now += 101;
    expect(await goAtOnce(throttle, RATE / 10)).toBe(true);
    expect(await wait(throttle, 1)).toBeGreaterThanOrEqual(MS);
  });

  it('makes up for a second at most when nothing could go for long', async () => {
    const throttle = new Throttle(RATE);
    now += 50_000;
    await throttle.next(RATE);
    expect(await goAtOnce(throttle, RATE / 10)).toBe(true);
    expect(await wait(throttle, 1)).toBeGreaterThanOrEqual(MS);
  });

  it('ends with the reason of the signal, also while it waits', async () => {
    const throttle = new Throttle(1);
    const ending = new AbortController();
    await throttle.next(3_600);
    const waiting = throttle.next(1, ending.signal);
    waiting.catch(() => undefined); // awaited below
    ending.abort(new Error('no more'));
    await expect(waiting).rejects.toThrow('no more');
  });

  it('without a rate waits for nothing', async () => {
    const throttle = new Throttle(undefined);
    await throttle.next(1e9);
    expect(await goAtOnce(throttle, 1e9)).toBe(true);
  });
});
