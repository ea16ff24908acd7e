import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { loggerTo } from '../../test/support/loggers.js';
import { Shutdown } from './shutdown.js';

describe('Shutdown', () => {
  let logged: string[];
  let forced: number;
  let shutdown: Shutdown;
  beforeEach(() => {
    jest.useFakeTimers();
    logged = [];
    forced = 0;
    const logger = loggerTo((message) => logged.push(message));
    shutdown = new Shutdown({ timeoutMs: 10_000, logger, force: () => (forced += 1) });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('begins with a signal, and ends with exit code 0', async () => {
    expect(shutdown.signal.aborted).toBe(false);
    shutdown.onSignal('SIGTERM');
    expect(shutdown.signal.aborted).toBe(true);
    expect(await shutdown.exitCode).toBe(0);
    expect(logged).toEqual(['SIGTERM: finishing what is in flight']);
  });

  it('has the exit code of the first request', async () => {
    shutdown.fail();
    shutdown.onSignal('SIGTERM');
    expect(await shutdown.exitCode).toBe(1);
  });

  it('is forced by a second signal, but not by the echo of the first', () => {
    shutdown.onSignal('SIGINT');
    jest.advanceTimersByTime(999);
    shutdown.onSignal('SIGINT');
    expect(forced).toBe(0);
    jest.advanceTimersByTime(1);
    shutdown.onSignal('SIGTERM');
    expect(forced).toBe(1);
    expect(logged.at(-1)).toContain('SIGTERM again: ending at once');
  });

  it('is not forced by the first signal after a failure', () => {
    shutdown.fail();
    jest.advanceTimersByTime(5_000);
    shutdown.onSignal('SIGTERM');
    expect(forced).toBe(0);
  });

  it('is forced and logged at the deadline', () => {
    shutdown.onSignal('SIGTERM');
    jest.advanceTimersByTime(9_999);
    expect(forced).toBe(0);
    jest.advanceTimersByTime(1);
    expect(forced).toBe(1);
    expect(logged.at(-1)).toContain('not finished after 10000 ms');
  });

  it('is not forced once everything is finished', () => {
    shutdown.onSignal('SIGTERM');
    shutdown.finished();
    jest.advanceTimersByTime(20_000);
    expect(forced).toBe(0);
  });
});
