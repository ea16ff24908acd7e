import { afterEach, describe, expect, it } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import type { Settings } from '../config/settings.js';
import { SILENT } from '../infra/logger.js';
import { HealthService, type HealthReport } from './health.js';
import { MetricsCollector } from './metrics-collector.js';
import { createOperationsServer } from './operations.js';

describe('the server of health and metrics', () => {
  const start = { waitsFor: undefined as string | undefined };
  let app: INestApplicationContext | undefined;
  let report: HealthReport;
  const providers = new Map<unknown, object>([
    [HealthService, { report: (role?: string) => ({ ...report, ...(role && { role }) }) }],
    [MetricsCollector, { scrape: () => Promise.resolve('ranklog_redis_up 0\n') }],
  ]);
  const server = createOperationsServer(
    { settings: {} as Settings, logger: SILENT, roles: ['ingest', 'query'], start },
    () => app,
  );
  afterEach(() => (app = undefined));
  const get = async (url: string) => {
    const { statusCode, body } = await server.inject(url);
    return [statusCode, JSON.parse(body)] as unknown[];
  };

  it('says what the start waits for, before there is an application; the process is live', async () => {
    start.waitsFor = 'waiting for Kafka';
    const starting = [503, { status: 'starting', problems: ['waiting for Kafka'] }];
    expect(await get('/health/startup')).toEqual(starting);
    expect(await get('/health/ready')).toEqual(starting);
    expect(await get('/metrics')).toEqual(starting);
    expect(await get('/health/live')).toEqual([200, { status: 'ok', problems: [] }]);
  });

  it('reports readiness, with 503 while there is a problem, of all roles or of one', async () => {
    start.waitsFor = undefined;
    app = { get: (token: unknown) => providers.get(token) } as INestApplicationContext;
    report = { status: 'failing', problems: ['no Redis'], roles: {}, partitions: [] };
    expect(await get('/health/startup')).toEqual([200, { status: 'ok', problems: [] }]);
    expect(await get('/health/ready')).toEqual([503, report]);
    report = { status: 'ok', problems: [], roles: {}, partitions: [] };
    expect(await get('/health/ready')).toEqual([200, report]);
    expect(await get('/health/ready?role=query')).toEqual([200, { ...report, role: 'query' }]);
    expect(await get('/health/ready?role=cook')).toEqual([400, expect.anything()]);
    expect(await get('/health/ready?role=reconciliation')).toEqual([400, expect.anything()]);
  });

  it('answers a scrape in the text format of Prometheus', async () => {
    app = { get: (token: unknown) => providers.get(token) } as INestApplicationContext;
    const { headers, body } = await server.inject('/metrics');
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(body).toBe('ranklog_redis_up 0\n');
  });
});
