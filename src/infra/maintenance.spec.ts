import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { loggerTo, SILENT } from '../../test/support/loggers.js';
import { Maintenance } from './maintenance.js';

const onFailure = 'the boards could not be checked';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('Maintenance', () => {
  it('logs a failure once, until its reason changes or the task succeeds', async () => {
    const ends = ['Redis is away', 'Redis is away', 'Redis is full', '', 'Redis is full'];
    const run = () => {
      const reason = ends.shift() ?? '';
      return reason === '' ? Promise.resolve() : Promise.reject(new Error(reason));
    };
    const logged: string[] = [];
    const logger = loggerTo((message, level) => logged.push(`${level} ${message}`));
    const maintenance = new Maintenance([{ onFailure, everyMs: 1_000, run }], logger);
    maintenance.onApplicationBootstrap();
    await jest.advanceTimersByTimeAsync(6_000);
    await maintenance.beforeApplicationShutdown();
    expect(logged).toEqual([
      `warn ${onFailure}: Redis is away`,
      `warn ${onFailure}: Redis is full`,
      `warn ${onFailure}: Redis is full`,
    ]);
  });

  it('runs each task at its own interval, even if other tasks fail', async () => {
    const runs = { fast: 0, slow: 0 };
    const tasks = [
      { onFailure, everyMs: 1_000, run: () => Promise.resolve((runs.fast += 1)) },
      { onFailure, everyMs: 3_000, run: () => Promise.reject(new Error(`${(runs.slow += 1)}`)) },
    ];
    const maintenance = new Maintenance(tasks, SILENT);
    maintenance.onApplicationBootstrap();
    await jest.advanceTimersByTimeAsync(6_000);
    await maintenance.beforeApplicationShutdown();
    expect(runs).toEqual({ fast: 6, slow: 2 });
  });

  it('waits for the turn in progress when it stops, and starts no other', async () => {
    const signals: AbortSignal[] = [];
    let finish: () => void = () => undefined;
    const run = (signal: AbortSignal) => {
      signals.push(signal);
      return new Promise<void>((resolve) => (finish = resolve));
    };
    const maintenance = new Maintenance([{ onFailure, everyMs: 1_000, run }], SILENT);
    maintenance.onApplicationBootstrap();
    await jest.advanceTimersByTimeAsync(10_000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);

    let isStopped = false;
    const stopped = maintenance.beforeApplicationShutdown().then(() => (isStopped = true));
    await jest.advanceTimersByTimeAsync(10_000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(isStopped).toBe(false);
    finish();
    await stopped;
    expect(jest.getTimerCount()).toBe(0);
  });
});
