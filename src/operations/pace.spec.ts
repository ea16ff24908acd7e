import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Pace } from './pace.js';

const RATE = 10_000;

describe('a pace', () => {
  let now: number;
  beforeEach(() => {
    now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  /** How long so many events have to wait, in ms of a clock that stands still. */
  const wait = async (pace: Pace, events: number) => {
    const begun = Date.now();
    await pace.next(events);
    return Date.now() - begun;
  };
  /** Timers may be early by a part of a ms. */
  const MS = 100 - 1;

  it('lets so many events go a second, in calls of any size', async () => {
    const pace = new Pace(RATE);
    expect(await wait(pace, RATE / 10)).toBeLessThan(MS);
    expect(await wait(pace, 1)).toBeGreaterThanOrEqual(MS);
    now += 100;
    expect(await wait(pace, RATE / 10)).toBeLessThan(MS);
    expect(await wait(pace, 1)).toBeGreaterThanOrEqual(MS);
  });

  it('makes up for a second at most when nothing could go for long', async () => {
    const pace = new Pace(RATE);
    now += 50_000;
    await pace.next(RATE);
    expect(await wait(pace, RATE / 10)).toBeLessThan(MS);
    expect(await wait(pace, 1)).toBeGreaterThanOrEqual(MS);
  });

  it('ends with the reason of the signal, also while it waits', async () => {
    const pace = new Pace(1);
    const ending = new AbortController();
    await pace.next(3_600);
    const waiting = pace.next(1, ending.signal);
    waiting.catch(() => undefined); // awaited below
    ending.abort(new Error('no more'));
    await expect(waiting).rejects.toThrow('no more');
  });

  it('without a rate waits for nothing', async () => {
    const pace = new Pace(undefined);
    await pace.next(1e9);
    expect(await wait(pace, 1e9)).toBeLessThan(MS);
  });
});
