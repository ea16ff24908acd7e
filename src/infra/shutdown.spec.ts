import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { loggerTo } from '../../test/support/loggers.js';
import { Shutdown } from './shutdown.js';

describe('the end of the process', () => {
  let words: string[];
  let forced: number;
  let shutdown: Shutdown;
  beforeEach(() => {
    jest.useFakeTimers();
    words = [];
    forced = 0;
    const logger = loggerTo((message) => words.push(message));
    shutdown = new Shutdown({ timeoutMs: 10_000, logger, force: () => (forced += 1) });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('is asked for by a signal, which is passed on and gives the exit code', async () => {
    expect(shutdown.signal.aborted).toBe(false);
    shutdown.signalled('SIGTERM', 0);
    expect(shutdown.signal.aborted).toBe(true);
    expect(await shutdown.exitCode).toBe(0);
    expect(words).toEqual(['SIGTERM: finishing what is in flight']);
  });

  it('has the exit code of who asked first', async () => {
    shutdown.ask(1);
    shutdown.signalled('SIGTERM', 0);
    expect(await shutdown.exitCode).toBe(1);
  });

  it('is forced by a second signal, but not by the echo of the first', () => {
    shutdown.signalled('SIGINT', 0);
    jest.advanceTimersByTime(999);
    shutdown.signalled('SIGINT', 0);
    expect(forced).toBe(0);
    jest.advanceTimersByTime(1);
    shutdown.signalled('SIGTERM', 0);
    expect(forced).toBe(1);
    expect(words.at(-1)).toContain('SIGTERM again: ending at once');
  });

  it('is not forced by the first signal, when a failure has asked before', () => {
    shutdown.ask(1);
    jest.advanceTimersByTime(5_000);
    shutdown.signalled('SIGTERM', 0);
    expect(forced).toBe(0);
  });

  it('is forced by the deadline, which says so', () => {
    shutdown.signalled('SIGTERM', 0);
    jest.advanceTimersByTime(9_999);
    expect(forced).toBe(0);
    jest.advanceTimersByTime(1);
    expect(forced).toBe(1);
    expect(words.at(-1)).toContain('not finished after 10000 ms');
  });

  it('is not forced once all is finished', () => {
    shutdown.signalled('SIGTERM', 0);
    shutdown.finished();
    jest.advanceTimersByTime(20_000);
    expect(forced).toBe(0);
  });
});
