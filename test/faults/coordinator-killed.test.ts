import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ScoreProducer } from '#client';
import { TestInstance, until, type RanklogProcess } from '../support/instance.js';
import { KAFKA_API, type KafkaRequest } from '../support/kafka-frames.js';
import { KafkaProxy, type KafkaAction } from '../support/kafka-proxy.js';
import { brokenChains, causeOf, consoleConsumerIds, readRankChanges } from '../support/results.js';

const BOARDS = 'boards: { arena: { columns: [{ name: score }], publish: { rankChanges: every } } }';
const PLAYERS = 50;
/** More results than one Produce request of a publisher takes. */
const EVENTS = 1_500;

interface Moment {
  readonly at: string;
  readonly apiKey: number;
  /** The request that the process is killed at; nothing of it, or no answer to it, gets through. */
  readonly nth?: number;
  readonly action: Extract<KafkaAction, 'hangBefore' | 'hangAfter'>;
}

const MOMENTS: readonly Moment[] = [
  {
    at: 'between the step in Redis and its transaction',
    apiKey: KAFKA_API.addPartitionsToTxn,
    action: 'hangBefore',
  },
  { at: 'when it has sent its first results', apiKey: KAFKA_API.produce, action: 'hangAfter' },
  {
    at: 'between two requests with results of one transaction',
    apiKey: KAFKA_API.produce,
    nth: 2,
    action: 'hangBefore',
  },
  {
    at: 'between results and position',
    apiKey: KAFKA_API.addOffsetsToTxn,
    action: 'hangBefore',
  },
  {
    at: 'when position and results are sent, before the commit',
    apiKey: KAFKA_API.endTxn,
    action: 'hangBefore',
  },
  {
    at: 'between the commit and its answer',
    apiKey: KAFKA_API.endTxn,
    action: 'hangAfter',
  },
];

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
  /** Stops the process at a request to this instance's topics, when all is applied in Redis. */
  const holdAt = async ({ apiKey, action, nth = 1 }: Moment) => {
    let seen = 0;
    const when = ({ body }: KafkaRequest) => body.includes(instance.name) && (seen += 1) === nth;
    const fault = proxy.onRequest(apiKey, action, { when });
    await produce(EVENTS);
    await until(() => fault.isDone, 'the request has come');
    if (action === 'hangAfter') await until(() => fault.executed === 1, 'it is executed');
    const applied = async () => (await instance.reader.appliedOffsets()).get(0) ?? 0;
    const before = sent - EVENTS;
    await until(async () => (await applied()) > before, 'Redis has applied some');
  };

  it.each(MOMENTS)(
    '$at, leaves results that are there once, and no wait for its transaction',
    async (moment) => {
      const begin = performance.now();
      const first = await startAt(proxy.broker);
      await produce(1);
      await instance.published(sent);
      const usual = performance.now() - begin;
      await holdAt(moment);
      first.kill('SIGKILL');
      await first.ended;
      const started = performance.now();
      const second = await startAt(broker);
      await instance.published(sent);
      // A transaction that nobody ends lasts 15 s.
      expect(performance.now() - started).toBeLessThan(Math.max(14_000, 5 * usual));
      const changes = await readRankChanges(instance.kafka, instance.topics);
      expect([new Set(changes.map(causeOf)).size, changes.length]).toEqual([sent, sent]);
      expect(brokenChains(changes)).toEqual([]);
      second.kill('SIGTERM');
      await second.ended;
    },
  );

  it('leaves the same for Kafka’s own consumer, and every score once', async () => {
    const ids = await consoleConsumerIds(instance.topics.rankChanges, sent);
    expect([new Set(ids).size, ids.length]).toEqual([sent, sent]);
    const { entries } = await instance.reader.standings('arena', 'all', { offset: 0, limit: 100 });
    const scores = entries.map(({ columns }) => Number(columns['score']));
    expect(scores.reduce((sum, score) => sum + score, 0)).toBe(sent);
  });
});
