import { afterEach, describe, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import type { Settings } from '../config/settings.js';
import { SILENT } from '../infra/logger.js';
import { HealthService, type HealthReport } from './health.js';
import { MetricsCollector } from './metrics-collector.js';
import { createOperationsServer } from './operations.js';

describe('the server of health and metrics', () => {
  const start = { waitsFor: undefined as string | undefined };
  let app: TestingModule | undefined;
  let report: HealthReport;
  const health = { report: (role?: string) => ({ ...report, ...(role && { role }) }) };
  const metrics = { scrape: () => Promise.resolve('ranklog_redis_up 0\n') };
  const providers = [
    { provide: HealthService, useValue: health },
    { provide: MetricsCollector, useValue: metrics },
  ];
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
    app = await Test.createTestingModule({ providers }).compile();
    report = { status: 'failing', problems: ['no Redis'], roles: {}, partitions: [] };
    expect(await get('/health/startup')).toEqual([200, { status: 'ok', problems: [] }]);
    expect(await get('/health/ready')).toEqual([503, report]);
    report = { status: 'ok', problems: [], roles: {}, partitions: [] };
    expect(await get('/health/ready')).toEqual([200, report]);
    expect(await get('/health/ready?role=query')).toEqual([200, { ...report, role: 'query' }]);
  });

  it.each([
    ['role=cook', '"cook"'],
    ['role=reconciliation', '"reconciliation"'],
    ['role=', '""'],
    ['role=query&role=query', '["query","query"]'],
  ])('refuses a readiness of %s, also before there is an application', async (query, given) => {
    const refusal = {
      statusCode: 400,
      error: 'Bad Request',
      code: 'INVALID_REQUEST',
      message: `role must be one role of this process (ingest, query), not ${given}`,
    };
    expect(await get(`/health/ready?${query}`)).toEqual([400, refusal]);
  });

  it('answers a scrape in the text format of Prometheus', async () => {
    app = await Test.createTestingModule({ providers }).compile();
    const { headers, body } = await server.inject('/metrics');
    expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(body).toBe('ranklog_redis_up 0\n');
  });
});
