import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { RedisClient } from '#board-store';
import { UnreadableBatchError, type ConsumerHealth, type PartitionHealth } from '#kafka-batch';
import type { KafkaBatchServer } from '#kafka-batch/nest';
import { loggerTo } from '../../test/support/loggers.js';
import type { Settings } from '../config/settings.js';
import type { RedisClients } from '../infra/redis.js';
import type { Shutdown } from '../infra/shutdown.js';
import { NeedsOperatorError } from './ingest-errors.js';
import { ProgressWatch } from './progress-watch.js';

const NO_LAG = { lag: 0, lagMs: 0 };
const RUNNING: PartitionHealth = { state: 'running', error: undefined, stuckMs: 0, ...NO_LAG };
const FAILED: PartitionHealth = {
  state: 'failed',
  error: new Error('log is cut'),
  stuckMs: 0,
  ...NO_LAG,
};
const WAITING: PartitionHealth = {
  state: 'backingOff',
  error: new NeedsOperatorError('no such partition'),
  stuckMs: 600_000,
  ...NO_LAG,
};
const UNREADABLE: PartitionHealth = {
  ...FAILED,
  error: new UnreadableBatchError(
    { topic: 't.score-events', partition: 0, first: 2, last: 4, crc: 1 },
    new Error('broken'),
  ),
};

describe('ProgressWatch', () => {
  let health: ConsumerHealth;
  let failures: string[];
  let watch: ProgressWatch;
  let redis: object;
  const clusterWith = (info: string, ms = 0) => {
    const answer = () => new Promise((resolve) => setTimeout(() => resolve(info), ms));
    const node = { cluster: answer };
    return { isCluster: true, nodes: () => [node] };
  };
  const partitions = (...all: PartitionHealth[]) => ({
    loopAgeMs: 100,
    partitions: new Map(all.map((one, partition) => [partition, one])),
  });
  beforeEach(() => {
    jest.useFakeTimers();
    const logged: string[] = [];
    failures = [];
    health = partitions(RUNNING, RUNNING);
    const transport: Pick<KafkaBatchServer, 'health'> = { health: () => health };
    redis = { isCluster: false };
    watch = new ProgressWatch(
      transport as KafkaBatchServer,
      {
        get main() {
          return redis as RedisClient;
        },
      } as RedisClients,
      { fail: () => failures.push(logged.at(-1) ?? '') } as unknown as Shutdown,
      {
        settings: { stallTimeout: 60_000, topicPrefix: 't' } as Settings,
        logger: loggerTo((message) => logged.push(message)),
      },
    );
    watch.onApplicationBootstrap();
  });
  afterEach(() => {
    watch.beforeApplicationShutdown();
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it('accepts a process that has nothing to do', async () => {
    await jest.advanceTimersByTimeAsync(3_600_000);
    health = partitions();
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(failures).toEqual([]);
  });

  it('ends a process with a stuck partition, and logs which one, for how long, and its last error', async () => {
    await jest.advanceTimersByTimeAsync(70_000);
    const error = new Error('Command timed out');
    health = partitions(RUNNING, { state: 'backingOff', error, stuckMs: 59_000, ...NO_LAG });
    await jest.advanceTimersByTimeAsync(5_000);
    expect(failures).toEqual([]);
    health = partitions(RUNNING, { state: 'backingOff', error, stuckMs: 61_000, ...NO_LAG });
    await jest.advanceTimersByTimeAsync(20_000);
    expect(failures).toEqual([
      't.score-events/1 (backingOff) has made no progress for 61 s; last error: Command timed out; ending, so that another process can continue',
    ]);
  });

  it('accepts that a shard waits if the cluster says so', async () => {
    const stuck = (message: string) =>
      (health = partitions({
        state: 'backingOff',
        error: new Error(message),
        stuckMs: 3_600_000,
        ...NO_LAG,
      }));
    redis = clusterWith('cluster_state:ok\r\ncluster_slots_ok:10923\r\n');
    stuck('Redis Cluster: a primary does not answer');
    await jest.advanceTimersByTimeAsync(3_600_000);
    redis = clusterWith('cluster_state:ok\r\ncluster_slots_ok:16384\r\n');
    stuck('Redis Cluster: a slot moves, so its scripts wait (TRYAGAIN Multiple keys)');
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(failures).toEqual([]);
    stuck('Redis Cluster: a primary does not answer'); // but the cluster no longer says so
    await jest.advanceTimersByTimeAsync(50_000);
    expect(failures).toEqual([]);
    await jest.advanceTimersByTimeAsync(70_000);
    expect(failures).toHaveLength(1);
  });

  it('ends a process with stuck partitions though the nodes are slow to say that all is well', async () => {
    const error = new Error('Command timed out');
    const stuck = { ...RUNNING, error, stuckMs: 3_600_000 };
    redis = clusterWith('cluster_slots_ok:16384\r\n', 5_000);
    health = partitions(stuck, stuck, stuck);
    await jest.advanceTimersByTimeAsync(80_000);
    expect(failures).toHaveLength(1);
  });

  it('ends a process whose fetch loop hangs', async () => {
    await jest.advanceTimersByTimeAsync(70_000);
    health = { ...health, loopAgeMs: 60_500 };
    await jest.advanceTimersByTimeAsync(5_000);
    expect(failures).toHaveLength(1);
    expect(failures[0]).toContain('nothing was fetched from t.score-events for 61 s');
  });

  it('accepts a process while some of its partitions have stopped permanently or need operator action', async () => {
    health = partitions(RUNNING, FAILED, WAITING);
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(failures).toEqual([]);
  });

  it('ends a process when all its partitions are stopped for the whole timeout', async () => {
    health = partitions(FAILED, WAITING);
    await jest.advanceTimersByTimeAsync(50_000);
    health = partitions(FAILED, RUNNING);
    await jest.advanceTimersByTimeAsync(10_000);
    health = partitions(FAILED, WAITING);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(failures).toEqual([]);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(failures).toHaveLength(1);
    expect(failures[0]).toContain('(0: log is cut; 1: no such partition)');
  });

  it('accepts a process whose partitions all wait for an operator to give up a batch', async () => {
    health = partitions(UNREADABLE);
    await jest.advanceTimersByTimeAsync(3_600_000);
    health = partitions(UNREADABLE, UNREADABLE);
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(failures).toEqual([]);
    health = partitions(UNREADABLE, FAILED);
    await jest.advanceTimersByTimeAsync(65_000);
    expect(failures).toHaveLength(1);
  });

  it('does not count time in which the process itself was suspended', async () => {
    await jest.advanceTimersByTimeAsync(70_000);
    const now = performance.now();
    jest.spyOn(performance, 'now').mockImplementation(() => now + 300_000);
    health = {
      loopAgeMs: 300_000,
      partitions: partitions({ ...RUNNING, stuckMs: 300_000 }).partitions,
    };
    await jest.advanceTimersByTimeAsync(5_000);
    expect(failures).toEqual([]);
  });

  it('stops with the process', async () => {
    watch.beforeApplicationShutdown();
    health = partitions({ ...RUNNING, stuckMs: 600_000 });
    await jest.advanceTimersByTimeAsync(600_000);
    expect(failures).toEqual([]);
  });
});
