import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { ConsumerHealth, PartitionHealth } from '#kafka-batch';
import { SILENT } from '../../test/support/loggers.js';
import { ProgressWatch } from './progress-watch.js';

class NeedsOperatorError extends Error {}

const RUNNING: PartitionHealth = { state: 'running', error: undefined, stuckMs: 0 };
const FAILED: PartitionHealth = { state: 'failed', error: new Error('log is cut'), stuckMs: 0 };
const WAITING: PartitionHealth = {
  state: 'backingOff',
  error: new NeedsOperatorError('no such partition'),
  stuckMs: 600_000,
};

describe('ProgressWatch', () => {
  let health: ConsumerHealth;
  let fatal: string[];
  let ending: AbortController;
  const partitions = (...all: PartitionHealth[]) => ({
    loopAgeMs: 100,
    partitions: new Map(all.map((one, partition) => [partition, one])),
  });
  beforeEach(() => {
    jest.useFakeTimers();
    fatal = [];
    health = partitions(RUNNING, RUNNING);
    ending = new AbortController();
    new ProgressWatch({
      topic: 't',
      stallTimeoutMs: 60_000,
      health: () => health,
      needsOperator: (error) => error instanceof NeedsOperatorError,
      logger: SILENT,
      onFatal: ({ message }) => fatal.push(message),
    }).start(ending.signal);
  });
  afterEach(() => {
    ending.abort();
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it('is content with a process that has nothing to do, for any time', () => {
    jest.advanceTimersByTime(3_600_000);
    health = partitions();
    jest.advanceTimersByTime(3_600_000);
    expect(fatal).toEqual([]);
  });

  it('ends a process with a partition that is stuck; says which, for how long, and why', () => {
    jest.advanceTimersByTime(70_000);
    const error = new Error('Command timed out');
    health = partitions(RUNNING, { state: 'backingOff', error, stuckMs: 59_000 });
    jest.advanceTimersByTime(5_000);
    expect(fatal).toEqual([]);
    health = partitions(RUNNING, { state: 'backingOff', error, stuckMs: 61_000 });
    jest.advanceTimersByTime(20_000);
    expect(fatal).toEqual([
      't/1 (backingOff) has made no progress for 61 s; last error: Command timed out; ending, so that another process can go on',
    ]);
  });

  it('ends a process whose fetch loop stands still', () => {
    jest.advanceTimersByTime(70_000);
    health = { ...health, loopAgeMs: 60_500 };
    jest.advanceTimersByTime(5_000);
    expect(fatal).toHaveLength(1);
    expect(fatal[0]).toContain('nothing was fetched from t for 61 s');
  });

  it('lets a process go on while some of its partitions have stopped for good or need operator action', () => {
    health = partitions(RUNNING, FAILED, WAITING);
    jest.advanceTimersByTime(3_600_000);
    expect(fatal).toEqual([]);
  });

  it('ends it once all of them have, for the whole time', () => {
    health = partitions(FAILED, WAITING);
    jest.advanceTimersByTime(50_000);
    health = partitions(FAILED, RUNNING);
    jest.advanceTimersByTime(10_000);
    health = partitions(FAILED, WAITING);
    jest.advanceTimersByTime(60_000);
    expect(fatal).toEqual([]);
    jest.advanceTimersByTime(5_000);
    expect(fatal).toHaveLength(1);
    expect(fatal[0]).toContain('(0: log is cut; 1: no such partition)');
  });

  it('does not count time in which the process itself stood still', () => {
    jest.advanceTimersByTime(70_000);
    const now = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => now + 300_000);
    health = {
      loopAgeMs: 300_000,
      partitions: partitions({ ...RUNNING, stuckMs: 300_000 }).partitions,
    };
    jest.advanceTimersByTime(5_000);
    expect(fatal).toEqual([]);
  });

  it('looks no more once the process is ending', () => {
    ending.abort();
    health = partitions({ ...RUNNING, stuckMs: 600_000 });
    jest.advanceTimersByTime(600_000);
    expect(fatal).toEqual([]);
  });
});
