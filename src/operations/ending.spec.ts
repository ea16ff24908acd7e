import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { loggerTo } from '../../test/support/loggers.js';
import { Ending } from './ending.js';

describe('the end of the process', () => {
  let words: string[];
  let forced: number;
  let ending: Ending;
  beforeEach(() => {
    jest.useFakeTimers();
    words = [];
    forced = 0;
    const logger = loggerTo((message) => words.push(message));
    ending = new Ending({ timeoutMs: 10_000, logger, force: () => (forced += 1) });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('is asked for by a signal, which is passed on and gives the exit code', async () => {
    expect(ending.signal.aborted).toBe(false);
    ending.signalled('SIGTERM', 0);
    expect(ending.signal.aborted).toBe(true);
    expect(await ending.exitCode).toBe(0);
    expect(words).toEqual(['SIGTERM: finishing what is in flight']);
  });

  it('has the exit code of who asked first', async () => {
    ending.ask(1);
    ending.signalled('SIGTERM', 0);
    expect(await ending.exitCode).toBe(1);
  });

  it('is forced by a second signal, but not by the echo of the first', () => {
    ending.signalled('SIGINT', 0);
    jest.advanceTimersByTime(999);
    ending.signalled('SIGINT', 0);
    expect(forced).toBe(0);
    jest.advanceTimersByTime(1);
    ending.signalled('SIGTERM', 0);
    expect(forced).toBe(1);
    expect(words.at(-1)).toContain('SIGTERM again: ending at once');
  });

  it('is not forced by the first signal, when a failure has asked before', () => {
    ending.ask(1);
    jest.advanceTimersByTime(5_000);
    ending.signalled('SIGTERM', 0);
    expect(forced).toBe(0);
  });

  it('is forced by the deadline, which says so', () => {
    ending.signalled('SIGTERM', 0);
    jest.advanceTimersByTime(9_999);
    expect(forced).toBe(0);
    jest.advanceTimersByTime(1);
    expect(forced).toBe(1);
    expect(words.at(-1)).toContain('not finished after 10000 ms');
  });

  it('is not forced once all is finished', () => {
    ending.signalled('SIGTERM', 0);
    ending.finished();
    jest.advanceTimersByTime(20_000);
    expect(forced).toBe(0);
  });
});
