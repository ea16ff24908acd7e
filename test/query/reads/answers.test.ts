import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { arena, scored, StoreFixture } from '../../board-store/fixture.js';
import { interceptedClient, openTestRedis, type TestRedis } from '../../board-store/test-redis.js';
import { until } from '../../support/instance.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { openApp, type TestApp } from './app.js';

const URL_OF_PAGE = '/v1/boards/arena/standings';

interface Page {
  readonly stale: boolean;
  readonly age?: number;
  readonly entries: readonly { readonly playerId: string }[];
}

describe('answers from memory', () => {
  let servers: TestRedis;
  let fixture: StoreFixture;
  let proxy: TcpProxy;
  let client: Redis;
  let reads: number;
  let opened: TestApp | undefined;

  beforeEach(async () => {
    servers = openTestRedis();
    fixture = await new StoreFixture(servers.redis, servers.newKeys()).register(arena);
    await fixture.apply([scored('ada', [5])]);
    const { hostname, port } = new URL(process.env['REDIS_URL'] ?? '');
    proxy = await TcpProxy.to({ host: hostname, port: Number(port) });
    client = new Redis(proxy.port, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 1,
      commandTimeout: 500,
      retryStrategy: () => 50,
    });
    client.on('error', () => undefined); // commands report errors
    await until(() => client.status === 'ready', 'the client is connected');
    reads = 0;
  });
  afterEach(async () => {
    await opened?.app.close();
    client.disconnect();
    await proxy.close();
    await servers.close();
  });

  /** The application with a client that counts reads of pages; `meanwhile` runs before each. */
  async function open(
    queryCache: number,
    meanwhile: () => Promise<unknown> = () => Promise.resolve(),
  ) {
    const redis = interceptedClient(client, /^ranklogPageBuffer$/, async (run) => {
      reads += 1;
      await meanwhile();
      return run();
    });
    opened = await openApp({ redis, prefix: fixture.keys.prefix }, { queryCache });
    return opened.app;
  }
  const page = async () => {
    const response = await opened!.app.inject(URL_OF_PAGE);
    return { response, status: response.statusCode, page: response.json<Page>() };
  };

  it('serve equal requests at the same time by one read', async () => {
    await open(60_000);
    const answers = await Promise.all(Array.from({ length: 50 }, page));
    expect(new Set(answers.map(({ response }) => response.body)).size).toBe(1);
    expect((await page()).status).toBe(200);
    expect(reads).toBe(1);
    await opened!.app.inject(`${URL_OF_PAGE}?limit=1`);
    expect(reads).toBe(2);
  });

  it('are read again once they are as old as the setting says', async () => {
    await open(100);
    await page();
    await fixture.apply([scored('bob', [9])], { from: 1 });
    await until(async () => (await page()).page.entries.length === 2, 'bob is on the page', 20);
    expect(reads).toBe(2);
  });

  it('are not kept with 0', async () => {
    await open(0);
    await page();
    await fixture.apply([scored('bob', [9])], { from: 1 });
    expect((await page()).page.entries.map(({ playerId }) => playerId)).toEqual(['bob', 'ada']);
    expect(reads).toBe(2);
  });

  it('with 0 are never older than their request: those that come during a read share the next one', async () => {
    let release: () => void = () => undefined;
    const blocked = new Promise<void>((resolve) => (release = resolve));
    let isRead: () => void = () => undefined;
    const read = new Promise<void>((resolve) => (isRead = resolve));
    await open(0);
    const { reader } = opened!;
    const standings = reader.standings.bind(reader);
    let first = true;
    reader.standings = async (...args) => {
      const answer = await standings(...args);
      if (first) {
        first = false;
        isRead();
        await blocked; // Redis has answered, the request has no answer yet
      }
      return answer;
    };
    const early = page();
    await read;
    await fixture.apply([scored('bob', [9])], { from: 1 });
    const late = Array.from({ length: 20 }, page);
    release();
    expect((await early).page.entries).toHaveLength(1);
    for (const answer of await Promise.all(late)) expect(answer.page.entries).toHaveLength(2);
    expect(reads).toBe(2);
    expect((await page()).status).toBe(200);
    expect(reads).toBe(3);
  });

  it.each(['cut', 'freeze'] as const)(
    'are given with their age while Redis does not answer (%s); without one there is a problem',
    async (fault) => {
      await open(1);
      const { response: first } = await page();
      expect(first.headers.age).toBeUndefined();
      proxy[fault]();
      let last = await page();
      await until(async () => (last = await page()).page.stale, 'the answer is stale', 20);
      expect(last.page).toEqual({ ...first.json<Page>(), stale: true, age: expect.any(Number) });
      expect(last.response.headers).toMatchObject({ age: String(last.page.age) });
      expect(last.response.headers.etag).toBeUndefined();
      const unknown = await opened!.app.inject(`${URL_OF_PAGE}?limit=7`);
      expect(unknown.json()).toMatchObject({ status: 503, code: 'STORE_UNAVAILABLE' });
      expect(unknown.headers['retry-after']).toBe('1');
      proxy.thaw();
      proxy.restore();
      await until(async () => !(await page()).page.stale, 'the answer is no longer stale', 20);
    },
  );

  it('refuses reads while too many are in flight', async () => {
    let release: () => void = () => undefined;
    const blocked = new Promise<void>((resolve) => (release = resolve));
    client.options.commandTimeout = 60_000; // a busy machine needs long for so many
    await open(60_000, () => blocked);
    const asked = Array.from(
      { length: 1_200 },
      async (_, from) => await opened!.app.inject(`${URL_OF_PAGE}?from=${from + 1}`),
    );
    await until(() => reads === 1_000, 'as many reads as may be are in flight');
    const refused = await opened!.app.inject(`${URL_OF_PAGE}?from=5000`);
    expect(refused.json()).toMatchObject({ status: 503, code: 'OVERLOADED' });
    release();
    const statuses = (await Promise.all(asked)).map(({ statusCode }) => statusCode);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1_000);
    expect(statuses.filter((status) => status === 503)).toHaveLength(200);
  });

  it('counts each read of a POST in that limit', async () => {
    let release: () => void = () => undefined;
    const blocked = new Promise<void>((resolve) => (release = resolve));
    client.options.commandTimeout = 60_000;
    await open(60_000, () => blocked);
    const post = async (count: number) => {
      const requests = Array.from({ length: count }, () => ({ board: 'arena', dense: true }));
      const url = '/v1/players/ada/standings';
      return (await opened!.app.inject({ method: 'POST', url, payload: { requests } })).statusCode;
    };
    const asked = Array.from({ length: 10 }, () => post(100));
    await until(() => reads === 1_000, 'as many reads as may be are in flight');
    let isAnswered = false;
    const refused = post(1).finally(() => (isAnswered = true));
    await until(() => isAnswered || reads > 1_000, 'one more read is refused or sent');
    release();
    expect(await refused).toBe(503);
    expect(await Promise.all(asked)).toEqual(Array(10).fill(200));
    expect(await post(100)).toBe(200);
  });
});
