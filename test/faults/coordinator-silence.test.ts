import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ScoreProducer } from '#client';
import { timed } from '../support/eventually.js';
import { TestInstance, until } from '../support/instance.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { causeOf, readRankChanges } from '../support/results.js';

const BOARDS = 'boards: { arena: { columns: [{ name: score }] } }';
const PLAYERS = Array.from({ length: 20 }, (_, index) => `player-${index}`);

describe('ingest whose requests get no response on open connections', () => {
  let instance: TestInstance;
  let proxy: KafkaProxy;
  let producer: ScoreProducer;
  let sent = 0;
  beforeEach(async () => {
    proxy = await KafkaProxy.toBroker();
    instance = await TestInstance.create(BOARDS, { partitions: 2 });
    instance.env['KAFKA_BROKERS'] = proxy.broker;
    producer = new ScoreProducer({ kafka: instance.kafka, topicPrefix: instance.name });
    await producer.connect();
  });
  afterEach(async () => {
    await producer.disconnect();
    await instance.remove();
    await proxy.close();
  });

  const produce = async () => {
    await producer.send(PLAYERS.map((playerId) => ({ board: 'arena', playerId, delta: 1 })));
    sent += PLAYERS.length;
  };

  it('closes the connections after 10 s and publishes every result once', async () => {
    const service = await instance.start();
    const undisturbed = await timed(async () => {
      await produce();
      await instance.published(sent);
    });
    const commit = proxy.onRequest(KAFKA_API.endTxn, 'hangAfter');
    await produce();
    await until(() => commit.executed === 1, 'a commit is executed without a response');
    const others = [KAFKA_API.fetch, KAFKA_API.heartbeat].map((api) =>
      proxy.onRequest(api, 'hangBefore'),
    );
    await produce();
    // kafkajs itself waits for 30 s.
    const disturbed = await timed(() => instance.published(sent));
    expect(disturbed).toBeLessThan(28_000 + 5 * undisturbed);
    expect(others.some(({ isDone }) => isDone)).toBe(true);
    proxy.clearFaults();
    await produce();
    await instance.published(sent);
    const causes = (await readRankChanges(instance.kafka, instance.topics)).map(causeOf);
    expect([new Set(causes).size, causes.length]).toEqual([sent, sent]);
    expect(service.exitCode).toBeNull();
  });
});
