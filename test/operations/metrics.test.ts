import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { KeySpace } from '#board-store';
import { ModerationProducer, ScoreProducer } from '#client';
import { EventReader } from '../query/live/event-reader.js';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { TcpProxy } from '../support/tcp-proxy.js';

const BOARDS = `boards:
  arena: { columns: [{ name: score }], publish: { leaders: 3 } }
  chess: { columns: [{ name: score }] }
  daily:
    columns: [{ name: score }]
    windows: [{ window: day, close: { from: 2026-01-01 } }]
    late: count
`;

describe('the metrics of a running process', () => {
  let instance: TestInstance;
  let redis: TcpProxy;
  let kafka: KafkaProxy;
  let service: RanklogProcess;
  let url: string;

  beforeEach(async () => {
    const { hostname, port } = new URL(process.env['REDIS_URL'] ?? '');
    redis = await TcpProxy.to({ host: hostname, port: Number(port) });
    kafka = await KafkaProxy.toBroker();
    instance = await TestInstance.create(BOARDS, { partitions: 1 });
    Object.assign(instance.env, {
      RANKLOG_QUERY_CACHE: '1m',
      REDIS_URL: `redis://127.0.0.1:${redis.port}`,
      KAFKA_BROKERS: kafka.broker,
    });
    service = await instance.start();
    url = service.url;
  });
  afterEach(async () => {
    await instance.remove();
    await Promise.all([redis.close(), kafka.close()]);
  });

  const produce = (...boards: string[]) =>
    instance.produce(
      boards.map((board, id) => JSON.stringify({ board, playerId: `p${id}`, delta: id })),
    );

  async function produceWithoutKey(board: string): Promise<void> {
    const producer = instance.kafka.producer();
    await producer.connect();
    const value = JSON.stringify({ board, playerId: 'keyless', delta: 1 });
    await producer.send({ topic: instance.topics.scoreEvents, messages: [{ value }] });
    await producer.disconnect();
  }

  /** The samples of a scrape, by name and labels as they are printed. */
  async function scrape(): Promise<Map<string, number>> {
    const text = await (await fetch(`${service.operations}/metrics`)).text();
    const lines = text.split('\n').filter((line) => line.startsWith('ranklog_'));
    return new Map(
      lines.map((line) => {
        const space = line.lastIndexOf(' ');
        return [line.slice(0, space), Number(line.slice(space + 1))];
      }),
    );
  }

  /**
   * Scrapes until these samples have these values: Kafka shows a position before the process counts
   * the results.
   */
  const untilScraped = async (expected: Record<string, number>) => {
    const names = Object.keys(expected);
    let found: Record<string, number | undefined> = {};
    const isReached = async () => {
      const samples = await scrape();
      found = Object.fromEntries(names.map((name) => [name, samples.get(name)]));
      return names.every((name) => found[name] === expected[name]);
    };
    await until(isReached, 'the samples are there', 20).catch(() => undefined);
    expect(found).toEqual(expected);
  };

  const LAG = 'ranklog_partition_lag_records{partition="0"}';
  const LAG_SECONDS = 'ranklog_partition_lag_seconds{partition="0"}';

  it('count events and results by board, and have the lag and the times of applying and publishing', async () => {
    await produce('arena', 'arena', 'arena', 'chess', 'chess', 'unknown');
    await produceWithoutKey('chess');
    const late = { board: 'daily', playerId: 'p', delta: 1, occurredAt: '2026-03-08T12:00:00Z' };
    await instance.produce([JSON.stringify(late), JSON.stringify(late)]);
    await instance.published(9);
    const { rankChanges, leaderChanges, deadLetters } = instance.topics;
    await untilScraped({
      'ranklog_events_total{board="arena"}': 3,
      'ranklog_events_total{board="chess"}': 3,
      [`ranklog_results_total{topic="${rankChanges}",board="arena"}`]: 3,
      [`ranklog_results_total{topic="${rankChanges}",board="chess"}`]: 3,
      [`ranklog_results_total{topic="${deadLetters}",board=""}`]: 1,
      'ranklog_late_events_total{board="daily"}': 2,
      'ranklog_dead_letters_total{reason="UNKNOWN_BOARD",board=""}': 1,
      'ranklog_misplaced_records_total{reason="key",board="chess"}': 1,
      ranklog_outbox_results: 0,
      ranklog_streams: 0,
      [LAG]: 0,
      [LAG_SECONDS]: 0,
    });
    const samples = await scrape();
    expect(samples.get('ranklog_events_total{board="daily"}')).toBeUndefined();
    expect(samples.get(`ranklog_results_total{topic="${leaderChanges}",board="arena"}`)).toBe(1);
    expect(samples.get('ranklog_rebalances_total')).toBeGreaterThanOrEqual(1);
    for (const work of ['apply', 'publish']) {
      const name = `ranklog_${work}_duration_seconds`;
      const count = samples.get(`${name}_count`) ?? 0;
      expect(count).toBeGreaterThanOrEqual(1);
      expect(samples.get(`${name}_bucket{le="+Inf"}`)).toBe(count);
      expect(samples.get(`${name}_sum`)).toBeGreaterThan(0);
    }
    expect(
      [...samples.keys()].filter((name) => /_errors_total.*(connection|KafkaJS)/.test(name)),
    ).toEqual([]);
  });

  it('count each player record once, whether it is settled in several calls or changes nothing', async () => {
    const { kafka, name, reader } = instance;
    const producer = new ScoreProducer({ kafka, topicPrefix: name });
    await producer.connect();
    const moderation = new ModerationProducer({ producer, reader });
    const player = { board: 'arena', playerId: 'mal' };
    await producer.send([{ ...player, delta: 1 }]);
    await moderation.ban(player);
    await moderation.ban(player);
    await moderation.unban(player);
    await moderation.erase({ board: 'chess', playerId: 'nobody' });
    await producer.disconnect();
    await untilScraped({
      'ranklog_player_records_total{board="arena",kind="banned"}': 2,
      'ranklog_player_records_total{board="arena",kind="unbanned"}': 1,
      'ranklog_player_records_total{board="chess",kind="erased"}': 1,
    });
  });

  it('have answers over HTTP by route, never by URL, what the cache had, and open streams', async () => {
    await produce('arena');
    await instance.published(1);
    const statuses: number[] = [];
    for (const path of ['arena/standings', 'arena/standings', 'none/standings', 'arena/players/p0'])
      statuses.push((await fetch(`${url}/v1/boards/${path}`)).status);
    statuses.push((await fetch(`${url}/nowhere/${instance.name}`)).status);
    expect(statuses).toEqual([200, 200, 404, 200, 404]);
    const stream = await EventReader.open(`${url}/v1/boards/arena/events`);
    const count = (route: string, code: number) =>
      `ranklog_http_request_duration_seconds_count{method="GET",route="${route}",code="${code}"}`;
    await untilScraped({
      [count('/v1/boards/:board/standings', 200)]: 2,
      [count('/v1/boards/:board/standings', 404)]: 1,
      [count('/v1/boards/:board/players/:player', 200)]: 1,
      [count('', 404)]: 1,
      'ranklog_query_cache_requests_total{result="hit"}': 1,
      'ranklog_query_cache_requests_total{result="miss"}': 3,
      ranklog_streams: 1,
    });
    stream.close();
    await untilScraped({ ranklog_streams: 0 });
    expect([...(await scrape()).keys()].filter((name) => name.includes('nowhere'))).toEqual([]);
  });

  it('have the lag while Redis does not answer, and errors of Redis and Kafka', async () => {
    await produce('arena');
    await instance.published(1);
    redis.freeze();
    await produce('arena', 'arena');
    const isBehind = async () => {
      const samples = await scrape();
      return samples.get(LAG) === 2 && (samples.get(LAG_SECONDS) ?? 0) >= 0.5;
    };
    await until(isBehind, 'the partition lags behind', 20);
    redis.cut();
    kafka.cut();
    const errors = async () =>
      [...(await scrape()).keys()].filter((name) => name.includes('_errors_total')).join('\n');
    const refused =
      /redis_errors_total\{error="connection"\}[^]*kafka_errors_total\{error="KafkaJSConnection/;
    await until(async () => refused.test(await errors()), 'both refuse connections', 20);
    redis.thaw();
    for (const proxy of [redis, kafka]) proxy.restore();
    await instance.published(3);
    await untilScraped({ [LAG]: 0, [LAG_SECONDS]: 0 });
    await instance.redis.set(new KeySpace(instance.name).recoveryTargets(0), 'no hash');
    await untilScraped({ ranklog_redis_up: 0 });
    expect(await errors()).toContain('ranklog_redis_errors_total{error="WRONGTYPE"}');
  });
});
