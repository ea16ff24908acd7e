import { describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import type { PartitionHealth } from '#kafka-batch';
import type { KafkaBatchServer } from '#kafka-batch/nest';
import type { Role } from '../config/roles.js';
import type { Settings } from '../config/settings.js';
import { SILENT } from '../infra/logger.js';
import { RedisClients } from '../infra/redis.js';
import type { PartitionWaits } from '../ingest/partition-waits.js';
import { HealthService, type HealthReport } from './health.js';

const running: PartitionHealth = {
  state: 'running',
  error: undefined,
  stuckMs: 0,
  lag: 0,
  lagMs: 0,
};
const reportOf = (
  partitions: Record<number, PartitionHealth>,
  {
    loopAgeMs = 0,
    redis = 'ready',
    reads = 'ready',
    waiting = new Set<number>(),
    isRunning = true,
    roles = ['ingest'] as Role[],
    role = undefined as Role | undefined,
  } = {},
): HealthReport => {
  const entries = Object.entries(partitions).map(([key, value]) => [Number(key), value] as const);
  const consumer = { loopAgeMs, partitions: new Map(entries) };
  const transport: Pick<KafkaBatchServer, 'health'> = { health: () => consumer };
  const health = new HealthService(
    new RedisClients({ status: redis } as Redis, { status: reads } as Redis),
    transport as KafkaBatchServer,
    { current: waiting } as unknown as PartitionWaits,
    {
      ...{ settings: { sessionTimeout: 10_000 } as Settings, logger: SILENT, roles },
      start: { waitsFor: isRunning ? undefined : 'Kafka is away' },
    },
  );
  return health.report(role);
};

describe('the health of a process', () => {
  it('is good while its partitions run or start for the first time', () => {
    const starting = { ...running, state: 'starting' as const, stuckMs: 1_600 };
    expect(reportOf({ 1: running, 0: starting })).toEqual({
      status: 'ok',
      problems: [],
      roles: { ingest: [] },
      partitions: [
        { partition: 0, state: 'starting', stuckSeconds: 2, waitsFor: null, problem: null },
        { partition: 1, state: 'running', stuckSeconds: 0, waitsFor: null, problem: null },
      ],
    });
  });

  it('gives the reason of each partition that does not run', () => {
    const error = new Error('the log is another one');
    const { status, problems } = reportOf({
      0: { ...running, state: 'failed', error },
      1: { ...running, state: 'backingOff', error: new Error('no topic') },
      2: { ...running, state: 'starting', error: new Error('Redis has lost events') },
      3: running,
    });
    expect({ status, problems }).toEqual({
      status: 'failing',
      problems: [
        'partition 0 (failed): the log is another one',
        'partition 1 (backingOff): no topic',
        'partition 2 (starting): Redis has lost events',
      ],
    });
  });

  it('is good while a partition waits for other partitions to recover', () => {
    const { status, problems, partitions } = reportOf(
      { 0: running, 1: running },
      { waiting: new Set([1]) },
    );
    expect({ status, problems }).toEqual({ status: 'ok', problems: [] });
    expect(partitions.map(({ waitsFor }) => waitsFor)).toEqual([null, 'recovering']);
  });

  it('is bad while nothing is fetched, and while Redis is not connected', () => {
    const { status, problems } = reportOf({ 0: running }, { loopAgeMs: 12_000, redis: 'close' });
    expect({ status, problems }).toEqual({
      status: 'failing',
      problems: ['not connected to Redis (close)', 'nothing was fetched from Kafka for 12 s'],
    });
  });

  it('is that of the connection to Redis that the role has: the one for reads is of the role query', () => {
    const lost = 'not connected to Redis (close)';
    const both: Role[] = ['ingest', 'query'];
    const noReads = { roles: both, reads: 'close' };
    expect(reportOf({}, noReads).roles).toEqual({ ingest: [], query: [lost] });
    expect(reportOf({}, { ...noReads, role: 'ingest' }).status).toBe('ok');
    expect(reportOf({}, { ...noReads, roles: ['query'] }).status).toBe('failing');
    const noWrites = { roles: both, redis: 'close' };
    expect(reportOf({}, noWrites).roles).toEqual({ ingest: [lost], query: [] });
  });

  it('is "starting" while the process starts, with the reason', () => {
    const { status, problems } = reportOf({}, { isRunning: false });
    expect({ status, problems }).toEqual({ status: 'starting', problems: ['Kafka is away'] });
  });

  it('is that of each role, or of one: a failed partition is no problem of reads', () => {
    const failed = { ...running, state: 'failed' as const, error: new Error('no topic') };
    const roles: Role[] = ['ingest', 'query'];
    const problems = ['partition 0 (failed): no topic'];
    const byRole = { ingest: problems, query: [] };
    expect(reportOf({ 0: failed }, { roles })).toMatchObject({ status: 'failing', roles: byRole });
    const ofQuery = { status: 'ok', problems: [], roles: { query: [] } };
    expect(reportOf({ 0: failed }, { roles, role: 'query' })).toMatchObject(ofQuery);
    const away = { roles, role: 'query' as const, reads: 'close' };
    expect(reportOf({ 0: failed }, away).problems).toEqual(['not connected to Redis (close)']);
  });
});
