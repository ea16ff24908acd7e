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

  /** Whether so many events may go without a turn of the event loop in between. */
  const goAtOnce = async (pace: Pace, events: number) => {
    let isOver = false;
    const going = pace.next(events).then(() => (isOver = true));
    await new Promise((resolve) => setImmediate(resolve));
    const wasOver = isOver;
    await going;
    return wasOver;
  };
  /** How long so many events have to wait, in ms of a clock that stands still. */
  const wait = async (pace: Pace, events: number) => {
    const begun = Date.now();
    await pace.next(events);
    return Date.now() - begun;
  };
  /** Of a tenth of a second; timers may be early by a part of a ms. */
  const MS = 95;

  it('lets so many events go a second, in calls of any size', async () => {
    const pace = new Pace(RATE);
    expect(await goAtOnce(pace, RATE / 10)).toBe(true);
    expect(await wait(pace, 1)).toBeGreaterThanOrEqual(MS);
    now += 101;
    expect(await goAtOnce(pace, RATE / 10)).toBe(true);
    expect(await wait(pace, 1)).toBeGreaterThanOrEqual(MS);
  });

  it('makes up for a second at most when nothing could go for long', async () => {
    const pace = new Pace(RATE);
    now += 50_000;
    await pace.next(RATE);
    expect(await goAtOnce(pace, RATE / 10)).toBe(true);
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
    expect(await goAtOnce(pace, 1e9)).toBe(true);
  });
});
