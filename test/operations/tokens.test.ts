import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HttpBoardReader } from '#http';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const BOARDS = 'boards: { arena: { columns: [{ name: score }] } }';
const SECRET = 'hunter2-hunter2-';
const SCOPES = ['read', 'write', 'operate'] as const;
const EVENT = { playerId: 'ada', delta: 1 };
/** By method. */
const BODIES: Readonly<Record<string, object>> = { POST: EVENT, PUT: { reason: 'speed hack' } };

/** Requests, the scope that each needs, and the answer with it. */
const REQUESTS = [
  ['GET', '/v1/boards', 'read', 200],
  ['HEAD', '/v1/boards/arena', 'read', 200],
  ['GET', '/v1/boards/arena/export', 'read', 200],
  ['GET', '/v1/boards/arena/standings/events', 'read', 200],
  ['POST', '/v1/boards/arena/players:batch', 'read', 400],
  ['POST', '/v1/players/ada/standings', 'read', 400],
  ['POST', '/v1/boards/arena/events', 'write', 202],
  ['PUT', '/v1/boards/arena/bans/mal', 'operate', 202],
  ['DELETE', '/v1/boards/arena/bans/nobody', 'operate', 409],
  ['PUT', '/v1/boards/arena/erasures/eve', 'operate', 202],
  ['GET', '/v1/boards/arena/bans', 'operate', 200],
  ['GET', '/v1/boards/arena/bans/mal', 'operate', 200],
  ['GET', '/v1/status', 'operate', 200],
  ['GET', '/reconciliations', 'operate', 200],
  ['GET', '/reconciliations/none/events', 'operate', 404],
] as const;

describe('a process with tokens', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'ranklog-tokens-'));
  const file = path.join(folder, 'tokens.yaml');
  let instance: TestInstance;
  let service: RanklogProcess;
  const send = async (method: string, url: string, token?: string) => {
    const body = BODIES[method];
    const answer = await fetch(service.url + url, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const login = answer.headers.get('www-authenticate');
    const isProblem = answer.headers.get('content-type')?.startsWith('application/problem+json');
    const text = isProblem ? await answer.text() : '';
    if (!isProblem) await answer.body?.cancel();
    const { code, detail } = JSON.parse(text || '{}') as Record<string, string>;
    return { status: answer.status, login, code, detail };
  };

  beforeAll(async () => {
    const entries = SCOPES.map(
      (scope) => `- { name: a-${scope}, token: ${SECRET}${scope}, scopes: [${scope}] }`,
    );
    writeFileSync(file, entries.join('\n'));
    instance = await TestInstance.create(BOARDS, {
      partitions: 1,
      env: {
        RANKLOG_HTTP_HOST: '0.0.0.0',
        RANKLOG_HTTP_TOKENS: file,
        RANKLOG_QUERY_WRITES: 'true',
        RANKLOG_QUERY_CACHE: '1m',
        RANKLOG_LOG_LEVEL: 'debug',
      },
    });
    service = await instance.start();
    await instance.produce([JSON.stringify({ ...EVENT, board: 'arena' })]);
    await instance.published(1);
  });
  afterAll(async () => {
    await instance.remove();
    rmSync(folder, { recursive: true });
  });

  it.each(REQUESTS)(
    'needs one for %s %s, with the scope %s',
    async (method, url, needed, status) => {
      const code = method === 'HEAD' ? undefined : 'UNAUTHORIZED';
      expect(await send(method, url)).toMatchObject({ status: 401, login: 'Bearer', code });
      expect(await send(method, url, `${SECRET}other`)).toMatchObject({ status: 401, code });
      for (const scope of SCOPES) {
        const answer = await send(method, url, SECRET + scope);
        if (scope === needed) expect(answer).toMatchObject({ status });
        else if (method === 'HEAD') expect(answer).toMatchObject({ status: 403 });
        else
          expect(answer).toMatchObject({
            ...{ status: 403, code: 'FORBIDDEN', login: null },
            detail: `the token "a-${scope}" lacks the scope "${needed}"`,
          });
      }
    },
  );

  it('writes the name of the token to bans and erasures', async () => {
    const { reader } = instance;
    for (const [path, playerId, kind] of [
      ['bans/mal', 'mal', 'banned'],
      ['erasures/eve', 'eve', 'erased'],
    ] as const) {
      await send('PUT', `/v1/boards/arena/${path}`, `${SECRET}operate`);
      const isApplied = async () => (await reader.ban('arena', playerId)) !== null;
      await until(isApplied, `${playerId} is ${kind}`);
      expect(await reader.ban('arena', playerId)).toMatchObject({ kind, by: 'a-operate' });
    }
    expect(await send('DELETE', '/v1/boards/arena/bans/mal', `${SECRET}operate`)).toMatchObject({
      status: 202,
    });
    const isUnbanned = async () => (await reader.ban('arena', 'mal'))?.kind === 'unbanned';
    await until(isUnbanned, 'mal is unbanned');
    expect(await reader.ban('arena', 'mal')).toMatchObject({ by: 'a-operate' });
  });

  it('needs none for the page and the documents', async () => {
    for (const url of ['/', '/docs', '/openapi.json', '/schemas/score-event.schema.json'])
      expect(await send('GET', url)).toMatchObject({ status: 200 });
  });

  it('needs one, whatever its scopes, for what does not exist', async () => {
    for (const [method, url, status] of [
      ['GET', '/nothing', 404],
      ['DELETE', '/v1/boards', 405],
    ] as const) {
      expect(await send(method, url)).toMatchObject({ status: 401 });
      for (const scope of SCOPES)
        expect(await send(method, url, SECRET + scope)).toMatchObject({ status });
    }
  });

  it('needs one before an answer comes from memory', async () => {
    const url = '/v1/boards/arena/standings?limit=7';
    const answers = async () => (await fetch(`${service.operations}/metrics`)).text();
    expect(await send('GET', url, `${SECRET}read`)).toMatchObject({ status: 200 });
    expect(await send('GET', url, `${SECRET}read`)).toMatchObject({ status: 200 });
    expect(await answers()).toMatch(/^ranklog_query_cache_requests_total{result="hit"} [1-9]/m);
    expect(await send('GET', url)).toMatchObject({ status: 401 });
  });

  it('needs one before a body is read', async () => {
    const headers = { 'content-type': 'application/json' };
    const url = `${service.url}/v1/boards/arena/events`;
    const { status } = await fetch(url, { method: 'POST', headers, body: '{' });
    expect(status).toBe(401);
  });

  it('is read by the library with a token', async () => {
    const url = service.url;
    const reader = new HttpBoardReader({ url, token: `${SECRET}read` });
    expect((await reader.boards()).map(({ board }) => board)).toEqual(['arena']);
    const refused = { code: 'UNAUTHORIZED', status: 401 };
    await expect(new HttpBoardReader({ url }).boards()).rejects.toMatchObject(refused);
  });

  it('serves health and metrics without one, on a port of their own that has nothing else', async () => {
    const statusOf = async (url: string) => (await fetch(url)).status;
    const paths = ['/health/live', '/health/ready', '/health/startup', '/metrics'];
    for (const one of paths) {
      expect([one, await statusOf(service.operations + one)]).toEqual([one, 200]);
      const answer = await send('GET', one, `${SECRET}operate`);
      expect([one, answer.status]).toEqual([one, 404]);
    }
    for (const one of ['/', '/v1/boards', '/v1/status', '/reconciliations', '/health'])
      expect([one, await statusOf(service.operations + one)]).toEqual([one, 404]);
    expect(service.operations).toMatch(/^http:\/\/127.0.0.1:/);
  });

  it('follows changes of the file', async () => {
    const changed = `${SECRET}changed`;
    writeFileSync(file, `- { name: new, token: ${changed}, scopes: [read] }`);
    const isKnown = async () => (await send('GET', '/v1/boards', changed)).status === 200;
    await until(isKnown, 'the token is known');
    expect(await send('GET', '/v1/boards', `${SECRET}read`)).toMatchObject({ status: 401 });
    writeFileSync(file, `- { name: new, token: ${changed}, scopes: [reed] }`);
    const logged = 'each value in scopes must be one of the following values';
    await until(() => service.errors.includes(logged), 'it logs the problem');
    expect(await isKnown()).toBe(true);
  });

  it('logs and answers no token', () => {
    expect(service.errors).toContain('GET /v1/boards 401');
    expect(service.errors + service.output).not.toContain(SECRET);
  });
});

describe('a process that waits for Redis', () => {
  it('answers probes meanwhile: it is live, its startup has the reason', async () => {
    const { hostname, port } = new URL(process.env['REDIS_URL'] ?? '');
    const redis = await TcpProxy.to({ host: hostname, port: Number(port) });
    const REDIS_URL = `redis://127.0.0.1:${redis.port}`;
    const instance = await TestInstance.create(BOARDS, { partitions: 1, env: { REDIS_URL } });
    redis.cut();
    try {
      const service = instance.spawn('start');
      const probe = async (name: string) => {
        const answer = await fetch(`${service.operations}/health/${name}`).catch(() => undefined);
        const body = (await answer?.json()) as { problems: string[] } | undefined;
        return { status: answer?.status, reason: body?.problems.join() };
      };
      const isWaiting = async () =>
        (await probe('startup')).reason?.startsWith(`waiting for Redis at ${REDIS_URL}: `) === true;
      await until(isWaiting, 'it says what it waits for');
      expect((await probe('startup')).status).toBe(503);
      expect(await probe('ready')).toMatchObject({
        status: 503,
        reason: expect.stringMatching(/Redis/),
      });
      expect(await probe('live')).toEqual({ status: 200, reason: '' });
      redis.restore();
      await until(async () => (await probe('ready')).status === 200, 'it is ready');
      expect(await probe('startup')).toEqual({ status: 200, reason: '' });
    } finally {
      await instance.remove();
      await redis.close();
    }
  });
});
