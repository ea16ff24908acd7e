import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Module, type DynamicModule } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Redis } from 'ioredis';
import { LeaseStore, type ReconciliationStatus } from '#board-store';
import type { KafkaBatchServer } from '#kafka-batch/nest';
import { loggerTo } from '../../test/support/loggers.js';
import { SettingsError } from '../config/settings.js';
import { ReconciliationsController } from '../generations/reconciliations.controller.js';
import { HealthController } from '../health/health.module.js';
import { HealthService } from '../health/health.js';
import type { PartitionWaits } from '../ingest/partition-waits.js';
import { MetricsCollector } from '../metrics/metrics-collector.js';
import { MetricsController } from '../metrics/metrics.module.js';
import { Metrics } from '../metrics/metrics.js';
import type { StoreReader } from '../metrics/store-facts.js';
import { createHttpApplication, listen } from './http-server.js';

const NO_PARTITIONS = { loopAgeMs: 0, partitions: new Map() };

class QuickReconciliations extends ReconciliationsController {
  protected override readonly eventEveryMs = 10;
}

@Module({})
class App {
  static of(redis: Redis, leases: Pick<LeaseStore, 'statuses'>): DynamicModule {
    const broken = { read: () => Promise.reject(new Error('not connected')) };
    const transport = { health: () => NO_PARTITIONS } as unknown as KafkaBatchServer;
    const waits = { current: new Set() } as unknown as PartitionWaits;
    const store = broken as unknown as StoreReader;
    const collector = new MetricsCollector(new Metrics(), store, transport, waits);
    const health = new HealthService(redis, transport, waits, { sessionTimeout: 10_000 });
    health.isRunning = true;
    return {
      module: App,
      controllers: [HealthController, MetricsController, QuickReconciliations],
      providers: [
        { provide: HealthService, useValue: health },
        { provide: MetricsCollector, useValue: collector },
        { provide: LeaseStore, useValue: leases },
      ],
    };
  }
}

const RUNNING: ReconciliationStatus = {
  board: 'arena',
  kind: 'build',
  state: 'running',
  generation: 'g2',
  holder: 'host:1',
  done: 250,
  total: 1_000,
  rate: 100,
  secondsLeft: 8,
  startedAt: Date.parse('2026-11-20T09:00:00.000Z'),
  updatedAt: Date.parse('2026-11-20T09:00:02.500Z'),
};
const RUNNING_JSON = {
  board: 'arena',
  kind: 'build',
  state: 'running',
  generation: 'g2',
  holder: 'host:1',
  done: 250,
  total: 1_000,
  rate: 100,
  secondsLeft: 8,
  startedAt: '2026-11-20T09:00:00.000Z',
  updatedAt: '2026-11-20T09:00:02.500Z',
  outcome: null,
  equal: null,
};

describe('the HTTP server', () => {
  let app: NestFastifyApplication;
  let url: string;
  let errors: string[];
  let redis: { status: Redis['status'] };
  let requests: number;
  let statuses: () => Promise<ReconciliationStatus[]>;

  const logger = loggerTo((message, level) => {
    if (level === 'error') errors.push(message);
  });
  const create = () => {
    const leases = {
      statuses: () => {
        requests += 1;
        return statuses();
      },
    };
    return createHttpApplication(App.of(redis as Redis, leases), logger);
  };
  beforeEach(async () => {
    errors = [];
    requests = 0;
    redis = { status: 'ready' };
    statuses = () => Promise.resolve([RUNNING]);
    app = await create();
    await listen(app, { httpHost: '127.0.0.1', httpPort: 0 }, logger);
    url = await app.getUrl();
  });
  afterEach(() => app.close());

  const get = async (path: string) => {
    const response = await fetch(url + path);
    return { status: response.status, body: await response.json() };
  };

  it('reports its health, with 503 while there is a problem', async () => {
    expect(await get('/health')).toEqual({
      status: 200,
      body: { status: 'ok', problems: [], partitions: [] },
    });
    redis.status = 'reconnecting';
    expect(await get('/health')).toEqual({
      status: 503,
      body: {
        status: 'failing',
        problems: ['not connected to Redis (reconnecting)'],
        partitions: [],
      },
    });
  });

  it('answers a scrape in the text format of Prometheus while Redis is down', async () => {
    const response = await fetch(`${url}/metrics`);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await response.text()).toContain('\nranklog_redis_up 0\n');
  });

  it('lists reconciliations, and returns one by its board, with times as in RFC 3339', async () => {
    const other = { ...RUNNING, board: 'a b/ü', state: 'done' as const, outcome: 'live' };
    statuses = () => Promise.resolve([RUNNING, other]);
    const otherJson = {
      ...RUNNING_JSON,
      board: 'a b/ü',
      state: 'done',
      secondsLeft: null,
      outcome: 'live',
    };
    expect(await get('/reconciliations')).toEqual({ status: 200, body: [otherJson, RUNNING_JSON] });
    const path = `/reconciliations/${encodeURIComponent('a b/ü')}`;
    expect(await get(path)).toEqual({ status: 200, body: otherJson });
  });

  it('accepts board names of the maximum length', async () => {
    const board = 'x'.repeat(128);
    statuses = () => Promise.resolve([{ ...RUNNING, board }]);
    const found = await get(`/reconciliations/${encodeURIComponent(board)}`);
    expect(found).toEqual({ status: 200, body: { ...RUNNING_JSON, board } });
  });

  it.each([
    [
      '/reconciliations/chess',
      404,
      'NO_RECONCILIATION',
      'no reconciliation of board "chess" is running or recorded; those of arena are',
    ],
    [
      '/reconciliations/chess/events',
      404,
      'NO_RECONCILIATION',
      'no reconciliation of board "chess" is running or recorded; those of arena are',
    ],
    ['/metric', 404, 'NOT_FOUND', 'there is nothing at GET /metric'],
    [
      '/reconciliations/%zz',
      400,
      'BAD_REQUEST',
      "'/reconciliations/%zz' is not a valid url component",
    ],
  ])('answers GET %s with %i and a sentence', async (path, status, code, message) => {
    const body = { type: `urn:ranklog:problem:${code}`, status, code, detail: message };
    expect(await get(path)).toEqual({ status, body: { ...body, title: expect.any(String) } });
    expect(errors).toEqual([]);
  });

  it('answers 503 when Redis does not answer', async () => {
    statuses = () => Promise.reject(new Error('Command timed out'));
    const body = {
      type: 'urn:ranklog:problem:STORE_UNAVAILABLE',
      title: 'Redis does not answer',
      status: 503,
      code: 'STORE_UNAVAILABLE',
      detail: 'Redis does not answer (Command timed out); try again',
    };
    expect(await get('/reconciliations')).toEqual({ status: 503, body });
    expect(await get('/reconciliations/arena/events')).toEqual({ status: 503, body });
  });

  it('answers 500 without details after an unexpected error, and logs it', async () => {
    statuses = () => Promise.resolve([{ ...RUNNING, startedAt: NaN }]);
    expect(await get('/reconciliations')).toEqual({
      status: 500,
      body: {
        type: 'urn:ranklog:problem:INTERNAL_SERVER_ERROR',
        title: 'Internal error',
        status: 500,
        code: 'INTERNAL_SERVER_ERROR',
        detail: 'internal error; the log of the process has the details',
      },
    });
    expect(errors).toEqual([expect.stringContaining('GET /reconciliations failed: ')]);
  });

  it('names the setting when the port is taken', async () => {
    const { port } = new URL(url);
    const second = await create();
    const settings = { httpHost: '127.0.0.1', httpPort: Number(port) };
    const error: unknown = await listen(second, settings, logger).catch(
      (reason: unknown) => reason,
    );
    expect(error).toEqual(
      new SettingsError([
        `RANKLOG_HTTP_PORT: can't listen on 127.0.0.1:${port} (EADDRINUSE); use another port, or 0 for any free one`,
      ]),
    );
    await second.close();
  });

  it('closes immediately although a client has sent half of a request', async () => {
    const client = connect(Number(new URL(url).port), '127.0.0.1');
    await new Promise<void>((resolve) => client.write('GET /health HTTP/1.1\r\n', () => resolve()));
    expect((await get('/health')).status).toBe(200); // so the half request has arrived, too
    const ended = once(client, 'close');
    const begin = performance.now();
    await app.close();
    expect(performance.now() - begin).toBeLessThan(10_000);
    await ended;
  });

  describe('the events of a reconciliation', () => {
    const open = async () => {
      const client = new AbortController();
      const response = await fetch(`${url}/reconciliations/arena/events`, {
        signal: client.signal,
      });
      const reader = (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream());
      return { client, reader: reader.getReader() };
    };

    it('arrive while it runs; the last one is its end', async () => {
      let done = 250;
      statuses = () => {
        done = Math.min(1_000, done + 250);
        const end = { state: 'done' as const, outcome: 'live as g2' };
        return Promise.resolve([{ ...RUNNING, done, ...(done === 1_000 ? end : {}) }]);
      };
      const response = await fetch(`${url}/reconciliations/arena/events`);
      expect(response.headers.get('content-type')).toBe('text/event-stream');
      const text = await response.text();
      expect(typesOf(text)).toEqual(['progress', 'end']);
      const data = /^event: end\nid: .*\ndata: (.*)$/m.exec(text)?.[1] ?? '';
      expect(JSON.parse(data)).toEqual({
        ...RUNNING_JSON,
        state: 'done',
        done: 1_000,
        secondsLeft: null,
        outcome: 'live as g2',
      });
    });

    it('report a problem while Redis is down, and continue', async () => {
      let turn = 0;
      statuses = () => {
        turn += 1;
        if (turn === 2) return Promise.reject(new Error('Connection is closed.'));
        return Promise.resolve(turn < 4 ? [RUNNING] : [{ ...RUNNING, state: 'failed' as const }]);
      };
      const text = await (await fetch(`${url}/reconciliations/arena/events`)).text();
      expect(typesOf(text)).toEqual(['problem', 'progress', 'end']);
    });

    it('end when Redis no longer has the reconciliation', async () => {
      let turn = 0;
      statuses = () => Promise.resolve(++turn < 3 ? [RUNNING] : []);
      const text = await (await fetch(`${url}/reconciliations/arena/events`)).text();
      expect(typesOf(text)).toEqual(['progress', 'problem']);
    });

    it('cause no more requests to Redis once the client has left', async () => {
      const { client, reader } = await open();
      await reader.read();
      client.abort();
      await expect(reader.read()).rejects.toThrow();
      await until(async () => {
        const before = requests;
        await new Promise((resolve) => setTimeout(resolve, 50));
        return requests === before;
      });
    });

    it('end when the service stops, and do not delay it', async () => {
      const { reader } = await open();
      await reader.read();
      const begin = performance.now();
      await app.close();
      expect(performance.now() - begin).toBeLessThan(10_000);
      for (let end = false; !end;) ({ done: end } = await reader.read());
    });
  });
});

/** The types of the events of a stream. */
function typesOf(text: string): string[] {
  return [...text.matchAll(/^event: (.*)$/gm)].map(([, type = '']) => type);
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 60_000;
  while (!(await holds())) if (performance.now() > end) throw new Error('timed out');
}
