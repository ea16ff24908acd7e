import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ScoreProducer } from '#client';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { KAFKA_API, type KafkaRequest } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { brokenChains, causeOf, consoleConsumerIds, readRankChanges } from '../support/results.js';

const BOARDS = 'boards: { arena: { columns: [{ name: score }], publish: { rankChanges: every } } }';
const PLAYERS = 50;
/** More results than fit into one Produce request. */
const EVENTS = 1_500;

/** When the process is killed: at the nth request of a kind; the request, or the response to it, does not get through. */
const MOMENTS = [
  ['after the step in Redis, before its transaction', 'addPartitionsToTxn', 'hangBefore', 1],
  ['after its first results', 'produce', 'hangAfter', 1],
  ['between two requests with results of one transaction', 'produce', 'hangBefore', 2],
  ['between results and position', 'addOffsetsToTxn', 'hangBefore', 1],
  ['after position and results, before the commit', 'endTxn', 'hangBefore', 1],
  ['between the commit and its response', 'endTxn', 'hangAfter', 1],
] as const;

describe('ingest that is killed', () => {
  let instance: TestInstance;
  let proxy: KafkaProxy;
  let broker = '';
  let sent = 0;
  beforeAll(async () => {
    proxy = await KafkaProxy.toBroker();
    instance = await TestInstance.create(BOARDS, { partitions: 1 });
    broker = instance.env['KAFKA_BROKERS'] ?? '';
  });
  afterAll(async () => {
    await instance.remove();
    await proxy.close();
  });

  const startAt = (brokers: string): Promise<RanklogProcess> => {
    instance.env['KAFKA_BROKERS'] = brokers;
    return instance.start();
  };
  const produce = async (count: number) => {
    const producer = new ScoreProducer({ kafka: instance.kafka, topicPrefix: instance.name });
    await producer.connect();
    const players = Array.from({ length: count }, (_, index) => `player-${index % PLAYERS}`);
    await producer.send(players.map((playerId) => ({ board: 'arena', playerId, delta: 1 })));
    await producer.disconnect();
    sent += count;
  };
  /** Stops the process at its nth request of a kind, after it has applied events in Redis. */
  const holdAt = async (
    api: keyof typeof KAFKA_API,
    action: 'hangBefore' | 'hangAfter',
    nth: number,
  ) => {
    let seen = 0;
    const when = ({ body }: KafkaRequest) => body.includes(instance.name) && (seen += 1) === nth;
    const fault = proxy.onRequest(KAFKA_API[api], action, { when });
    await produce(EVENTS);
    await until(() => fault.isDone, 'the request has arrived');
    if (action === 'hangAfter') await until(() => fault.executed === 1, 'it is executed');
    const applied = async () => (await instance.reader.appliedOffsets()).get(0) ?? 0;
    const before = sent - EVENTS;
    await until(async () => (await applied()) > before, 'Redis has applied some');
  };

  it.each(MOMENTS)(
    '%s: every result is there once, and nothing waits for its transaction',
    async (_when, api, action, nth) => {
      const begin = performance.now();
      const first = await startAt(proxy.broker);
      await produce(1);
      await instance.published(sent);
      const usual = performance.now() - begin;
      await holdAt(api, action, nth);
      first.kill('SIGKILL');
      await first.ended;
      const started = performance.now();
      const second = await startAt(broker);
      await instance.published(sent);
      // A transaction without an end times out after 15 s.
      expect(performance.now() - started).toBeLessThan(Math.max(14_000, 5 * usual));
      const changes = await readRankChanges(instance.kafka, instance.topics);
      expect([new Set(changes.map(causeOf)).size, changes.length]).toEqual([sent, sent]);
      expect(brokenChains(changes)).toEqual([]);
      second.kill('SIGTERM');
      await second.ended;
    },
  );

  it('counts every score once, and shows Kafka’s own consumer the same results', async () => {
    const ids = await consoleConsumerIds(instance.topics.rankChanges, sent);
    expect([new Set(ids).size, ids.length]).toEqual([sent, sent]);
    const { entries } = await instance.reader.standings('arena', 'all', { offset: 0, limit: 100 });
    const scores = entries.map(({ columns }) => Number(columns['score']));
    expect(scores.reduce((sum, score) => sum + score, 0)).toBe(sent);
  });
});
