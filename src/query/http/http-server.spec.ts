import { once } from 'node:events';
import { connect, type AddressInfo, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Module, type DynamicModule } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { LeaseStore, type ReconciliationStatus } from '#board-store';
import { eventually } from '../../../test/support/eventually.js';
import { loggerTo } from '../../../test/support/loggers.js';
import { SettingsError, type Settings } from '../../config/settings.js';
import { ReconciliationsController } from '../status/reconciliations.controller.js';
import { createHttpApplication, listen } from './http-server.js';

class QuickReconciliations extends ReconciliationsController {
  protected override readonly eventEveryMs = 10;
}

@Module({})
class App {
  static of(leases: Pick<LeaseStore, 'statuses'>): DynamicModule {
    return {
      module: App,
      controllers: [QuickReconciliations],
      providers: [{ provide: LeaseStore, useValue: leases }],
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
    return createHttpApplication(App.of(leases), logger);
  };
  const serverOf = (of: NestFastifyApplication) => of.getHttpAdapter().getInstance();
  const listenOn = (on: NestFastifyApplication, httpPort: number) =>
    listen(serverOf(on), { httpHost: '127.0.0.1', httpPort } as Settings, 'http', logger);
  beforeEach(async () => {
    errors = [];
    requests = 0;
    statuses = () => Promise.resolve([RUNNING]);
    app = await create();
    await app.init();
    await listenOn(app, 0);
    const { port } = serverOf(app).server.address() as AddressInfo;
    url = `http://127.0.0.1:${port}`;
  });
  afterEach(() => app.close());

  const get = async (path: string) => {
    const response = await fetch(url + path);
    return { status: response.status, body: await response.json() };
  };

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
    const error: unknown = await listenOn(second, Number(port)).catch((reason: unknown) => reason);
    expect(error).toEqual(
      new SettingsError([
        `RANKLOG_HTTP_PORT: can't listen on 127.0.0.1:${port} (EADDRINUSE); use another port, or 0 for any free one`,
      ]),
    );
    await second.close();
  });

  it('closes immediately although a client has sent half of a request', async () => {
    const client = connect(Number(new URL(url).port), '127.0.0.1');
    await new Promise<void>((resolve) =>
      client.write('GET /reconciliations HTTP/1.1\r\n', () => resolve()),
    );
    // So the half request has arrived, too
    expect((await get('/reconciliations')).status).toBe(200);
    const ended = once(client, 'close');
    const begin = performance.now();
    await app.close();
    expect(performance.now() - begin).toBeLessThan(10_000);
    await ended;
  });

  it('closes connections of clients that are slow to send a request, after 408, or read nothing of the answer', async () => {
    const { server } = serverOf(app);
    const { requestTimeout, headersTimeout, timeout } = server;
    expect({ requestTimeout, headersTimeout, timeout }).toEqual({
      ...{ requestTimeout: 15_000, headersTimeout: 10_000, timeout: 60_000 },
    });
    statuses = () => Promise.resolve(Array<ReconciliationStatus>(100_000).fill(RUNNING)); // 20 MB
    Object.assign(server, { requestTimeout: 300, headersTimeout: 300, timeout: 1_500 });
    const sent = [
      'GET / HTTP/1.1\r\nhost:',
      'POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
    ];
    for (const begin of sent) {
      const client = connect(Number(new URL(url).port), '127.0.0.1');
      client.write(begin);
      const answer = Buffer.concat((await client.toArray()) as Buffer[]).toString();
      expect(answer).toMatch(/^HTTP\/1.1 408 [^]*"code":"REQUEST_TIMEOUT"/);
    }
    const client = connect(Number(new URL(url).port), '127.0.0.1').pause();
    client.write('GET /reconciliations HTTP/1.1\r\nhost: a\r\n\r\n');
    await eventually(async () => (await connectionsOf(server)) === 1, 'it is connected', 60);
    await eventually(async () => (await connectionsOf(server)) === 0, 'it is closed', 60);
    client.destroy();
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
      await eventually(
        async () => {
          const before = requests;
          await new Promise((resolve) => setTimeout(resolve, 50));
          return requests === before;
        },
        'the reading has stopped',
        60,
      );
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

const connectionsOf = (server: Server) =>
  new Promise<number>((resolve) =>
    setImmediate(() => server.getConnections((_, count) => resolve(count))),
  );

/** The types of the events of a stream. */
function typesOf(text: string): string[] {
  return [...text.matchAll(/^event: (.*)$/gm)].map(([, type = '']) => type);
}
