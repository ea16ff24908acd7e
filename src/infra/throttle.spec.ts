import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Throttle } from './throttle.js';

const RATE = 10_000;

describe('Throttle', () => {
  let now: number;
  beforeEach(() => {
    now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** Whether `next` lets this many events go before the event loop has made a turn. */
  const goImmediately = async (throttle: Throttle, events: number) => {
    let isOver = false;
    const going = throttle.next(events).then(() => (isOver = true));
    await new Promise((resolve) => setImmediate(resolve));
    const wasOver = isOver;
    await going;
    return wasOver;
  };
  /** How long this many events wait, in ms, while performance.now is frozen. */
  const wait = async (throttle: Throttle, events: number) => {
    const begun = Date.now();
    await throttle.next(events);
    return Date.now() - begun;
  };
  /** A tenth of a second, minus the time by which a timer may fire early. */
  const MS = 95;

  it('limits events per second, in calls of any size', async () => {
    const throttle = new Throttle(RATE);
    expect(await goImmediately(throttle, RATE / 10)).toBe(true);
    expect(await wait(throttle, 1)).toBeGreaterThanOrEqual(MS);
    now += 101;
    expect(await goImmediately(throttle, RATE / 10)).toBe(true);
    expect(await wait(throttle, 1)).toBeGreaterThanOrEqual(MS);
  });

  it('makes up for at most one second of a long pause', async () => {
    const throttle = new Throttle(RATE);
    now += 50_000;
    await throttle.next(RATE);
    expect(await goImmediately(throttle, RATE / 10)).toBe(true);
    expect(await wait(throttle, 1)).toBeGreaterThanOrEqual(MS);
  });

  it('throws the reason of the signal, also while it waits', async () => {
    const throttle = new Throttle(1);
    const ending = new AbortController();
    await throttle.next(3_600);
    const waiting = throttle.next(1, ending.signal);
    waiting.catch(() => undefined); // awaited below
    ending.abort(new Error('stopped'));
    await expect(waiting).rejects.toThrow('stopped');
  });

  it('never waits without a rate', async () => {
    const throttle = new Throttle(undefined);
    await throttle.next(1e9);
    expect(await goImmediately(throttle, 1e9)).toBe(true);
  });
});
