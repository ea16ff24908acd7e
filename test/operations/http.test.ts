import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { KeySpace, LeaseStore, type ReconciliationStatus } from '#board-store';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const BOARDS = 'boards: { arena: { columns: [{ name: score }] } }';

async function statusOf(service: RanklogProcess): Promise<object> {
  return (await (await fetch(`${service.url}/v1/status`)).json()) as object;
}

async function scrape(service: RanklogProcess): Promise<string[]> {
  const response = await fetch(`${service.operations}/metrics`);
  return (await response.text()).split('\n').filter((line) => line.startsWith('ranklog_'));
}

/** Scrapes until this line is there: on a busy machine, Redis sometimes answers too late. */
async function scrapeWith(service: RanklogProcess, line: string): Promise<string[]> {
  let lines: string[] = [];
  await until(async () => (lines = await scrape(service)).includes(line), `the scrape has ${line}`);
  return lines;
}

interface Health {
  readonly status: string;
  readonly problems: readonly string[];
}

async function health(service: RanklogProcess): Promise<Health> {
  return (await (await fetch(`${service.operations}/health/ready`)).json()) as Health;
}

const RUNNING: ReconciliationStatus = {
  board: 'arena',
  kind: 'build',
  state: 'running',
  generation: 'g2',
  holder: 'host:1',
  done: 250,
  total: 450,
  rate: 100,
  secondsLeft: 2,
  startedAt: Date.parse('2026-11-20T09:00:00.000Z'),
  updatedAt: Date.parse('2026-11-20T09:00:02.500Z'),
};

describe('a running process', () => {
  let instance: TestInstance;
  let proxy: TcpProxy | undefined;
  afterEach(async () => {
    await instance.remove();
    await proxy?.close();
    proxy = undefined;
  });

  const produce = (...players: string[]) =>
    instance.produce(
      players.map((playerId) => JSON.stringify({ board: 'arena', playerId, delta: 1 })),
    );

  it('reports its health, partitions and boards, whatever its roles', async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 2 });
    const reconciliation = await instance.start('--roles', 'reconciliation');
    const ingest = await instance.start('--roles', 'ingest');
    await produce('ada', 'bob', 'eve');
    await instance.published(3);
    await until(async () => (await health(ingest)).status === 'ok', 'ingest is healthy');
    const roles = { reconciliation: [] };
    const healthy = { status: 'ok', problems: [], roles, partitions: [] };
    expect(await health(reconciliation)).toEqual(healthy);
    const lines = await scrapeWith(ingest, 'ranklog_redis_up 1');
    expect(lines).toEqual(
      expect.arrayContaining([
        'ranklog_redis_up 1',
        'ranklog_partition_stopped{partition="0"} 0',
        'ranklog_partition_stopped{partition="1"} 0',
        'ranklog_reads_stale{board="arena"} 0',
        expect.stringMatching(
          /^ranklog_generation_info\{board="arena",generation="\d+-\w+",role="live",partial_history="no"\} 1$/,
        ),
      ]),
    );
    const others = await scrapeWith(reconciliation, 'ranklog_reads_stale{board="arena"} 0');
    expect(others.filter((line) => line.startsWith('ranklog_partition'))).toEqual([]);
    expect(reconciliation.url).toBe('nowhere');
  });

  it('answers reads with the role query alone, as the library does, describes them, and serves the page', async () => {
    const env = { RANKLOG_QUERY_WRITES: 'true' };
    instance = await TestInstance.create(BOARDS, { partitions: 1, env });
    const query = await instance.start('--roles', 'query');
    const read = async (path: string) => (await fetch(query.url + path)).json();
    expect(await read('/v1/boards/arena')).toMatchObject({ status: 404, code: 'UNKNOWN_BOARD' });
    await instance.start('--roles', 'ingest,reconciliation');
    await produce('ada', 'bob', 'ada');
    await instance.published(3);
    const page: unknown = JSON.parse(JSON.stringify(await instance.reader.standings('arena')));
    expect(page).toMatchObject({ entries: [{ playerId: 'ada' }, { playerId: 'bob' }] });
    expect(await read('/v1/boards/arena/standings')).toEqual(page);
    const document = JSON.parse(readFileSync('docs/reference/openapi.json', 'utf8')) as object;
    expect(await read('/openapi.json')).toEqual(document);
    for (const file of readdirSync('schemas')) {
      const answer = await fetch(`${query.url}/schemas/${file}`);
      expect(answer.headers.get('content-type')).toBe('application/schema+json');
      expect(await answer.text()).toBe(readFileSync(`schemas/${file}`, 'utf8'));
    }
    expect(await read('/schemas/package.json')).toMatchObject({ status: 404 });
    const shown = await fetch(`${query.url}/`);
    expect(shown.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const [, script = ''] = /<script[^>]*>([^]*?)<\/script>/.exec(await shown.text()) ?? [];
    const own = `script-src 'sha256-${hash('sha256', script, 'base64')}'`;
    expect(shown.headers.get('content-security-policy')).toContain(own);
  });

  it('reports partitions that wait until other partitions have recovered, but not as a problem', async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 2 });
    // Of both partitions
    const players = Array.from({ length: 20 }, (_, index) => `player-${index}`);
    const service = await instance.start();
    await produce(...players);
    await instance.published(players.length);
    const keys = new KeySpace(instance.name);
    await instance.redis.hset(keys.recoveryTargets(0), '0', '5000');
    await produce(...players);
    const reported = async () =>
      (await scrape(service)).filter((line) =>
        /^ranklog_partition_(waiting|stopped).* 1$/.test(line),
      );
    await until(async () => (await reported()).length === 2, 'both partitions wait');
    expect(await reported()).toEqual([
      'ranklog_partition_waiting{partition="0",reason="recovering"} 1',
      'ranklog_partition_waiting{partition="1",reason="recovering"} 1',
    ]);
    const waiting = { waitsFor: 'recovering' };
    const partitions = [waiting, waiting];
    expect(await health(service)).toMatchObject({ status: 'ok', partitions });
    for (const partition of [0, 1])
      await until(
        () => service.errors.includes(`/${partition} waits until other partitions`),
        `partition ${partition} logs why it waits`,
      );
    await instance.redis.del(keys.recoveryTargets(0));
    await instance.published(2 * players.length);
    expect(await reported()).toEqual([]);
  });

  it('answers while Redis does not, and reports that', async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 1 });
    const { hostname, port } = new URL(process.env['REDIS_URL'] ?? '');
    proxy = await TcpProxy.to({ host: hostname, port: Number(port) });
    instance.env['REDIS_URL'] = `redis://127.0.0.1:${proxy.port}`;
    const service = await instance.start();
    await scrapeWith(service, 'ranklog_redis_up 1');
    expect(await statusOf(service)).toMatchObject({ boards: [{ board: 'arena' }] });
    proxy.freeze();
    let lines: string[] = [];
    const isInTime = async () => {
      const begin = performance.now();
      lines = await scrape(service);
      return performance.now() - begin < 4_000;
    };
    // A busy machine delays one answer or another.
    await until(isInTime, 'a scrape is answered before a command of Redis fails, after 5 s');
    expect(lines).toContain('ranklog_redis_up 0');
    expect(lines.some((line) => line.startsWith('ranklog_partition_stopped'))).toBe(true);
    expect(lines.some((line) => line.startsWith('ranklog_reads_stale'))).toBe(false);
    await until(
      async () =>
        (await health(service)).problems.some((one) => one.includes('not connected to Redis')),
      'health reports it, although the connection was never closed',
    );
    proxy.cut();
    expect(await scrape(service)).toContain('ranklog_redis_up 0');
    const list = await fetch(`${service.url}/reconciliations`);
    expect(list.status).toBe(503);
    expect(await list.json()).toMatchObject({ code: 'STORE_UNAVAILABLE' });
    // As all reads, the status is the last one for a minute.
    expect(await statusOf(service)).toMatchObject({ stale: true, boards: [{ board: 'arena' }] });
    proxy.thaw();
    proxy.restore();
    await until(
      async () => (await scrape(service)).includes('ranklog_redis_up 1'),
      'Redis answers again',
    );
  });

  it('says in time that it cannot read the status while Kafka does not answer', async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 1 });
    const kafka = await KafkaProxy.toBroker();
    proxy = kafka;
    instance.env['KAFKA_BROKERS'] = kafka.broker;
    const service = await instance.start('--roles', 'query');
    const isRead = async () => 'partitions' in (await statusOf(service));
    await until(isRead, 'the status is read');
    proxy.freeze();
    const isRefused = async () => {
      const begin = performance.now();
      const { code } = (await statusOf(service)) as { code?: string };
      return code === 'LOG_UNAVAILABLE' && performance.now() - begin < 6_000;
    };
    await until(isRefused, 'the status is refused in time');
    proxy.cut(); // what hangs
    proxy.thaw();
    proxy.restore();
    await until(isRead, 'the status is read again');
  });

  it('exits with code 2 before it reads the log if its port is taken, and names the setting', async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 1 });
    const first = await instance.start();
    const { port } = new URL(first.url);
    instance.env['RANKLOG_HTTP_PORT'] = port;
    const second = instance.spawn('start');
    expect(await second.ended).toBe(2);
    expect(second.errors).toContain(`RANKLOG_HTTP_PORT: can't listen on 127.0.0.1:${port}`);
    expect(second.errors).not.toContain('assigned partitions');
  });

  it('reports a reconciliation of any process and its events; an open event stream does not delay the end after SIGTERM', async () => {
    instance = await TestInstance.create(BOARDS, { partitions: 1 });
    const service = await instance.start();
    const leases = new LeaseStore(instance.redis, new KeySpace(instance.name), { shards: 1 });
    await leases.renew(await leases.acquire('arena', RUNNING.holder), RUNNING);
    const url = `${service.url}/reconciliations/arena`;
    expect(await (await fetch(url)).json()).toMatchObject({ state: 'running', secondsLeft: 2 });
    await scrapeWith(
      service,
      'ranklog_reconciliation_done_records{board="arena",kind="build"} 250',
    );
    const stream = (await fetch(`${url}/events`)).body!.getReader();
    let events = '';
    while (!events.includes('event: progress'))
      events += Buffer.from((await stream.read()).value).toString(); // throws at the end
    service.kill('SIGTERM');
    expect(await service.ended).toBe(0); // not forced
  });
});
