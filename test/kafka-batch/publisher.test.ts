import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  lastCommittedRecord,
  ProducerFencedError,
  RecordTooLargeError,
  TransactionalPublisher,
} from '#kafka-batch';
import { eventually, timed } from '../support/eventually.js';
import { testKafka, transactionsEnded } from '../support/kafka-client.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { readCommitted } from '../support/results.js';
import { numbers, TestTopic } from './topic.js';

const FEW = 5_000;
const MANY = 50_000;

describe('TransactionalPublisher', () => {
  let topic: TestTopic;
  const committed = async () => (await topic.committed())[0];
  const values = async () => {
    await transactionsEnded(topic.kafka, topic.name);
    return (await readCommitted(topic.kafka, topic.name)).map(({ value }) => value?.toString());
  };

  beforeEach(async () => {
    topic = await TestTopic.create(2);
  });
  afterEach(() => topic.remove());

  it('publishes records and commits an offset each time, also if the records take several sends', async () => {
    const publisher = await topic.publisher();
    expect(await committed()).toBe(-1);
    const headers = Object.fromEntries(numbers(0, 5).map((name) => [name, 'x'.repeat(40)]));
    await publisher.publish(topic.publication(numbers(0, 4_500), 4_500, headers));
    await publisher.publish(topic.publication(['last'], 4_501));
    await publisher.publish(topic.publication([], 4_502));
    expect(await values()).toEqual([...numbers(0, 4_500), 'last']);
    expect(await committed()).toBe(4_502);
  });

  it('fences earlier publishers: nothing more of them becomes visible', async () => {
    const zombie = await topic.publisher();
    await zombie.publish(topic.publication(['of the zombie'], 1));
    const successor = await topic.publisher();
    const late = zombie.publish(topic.publication(['late'], 2));
    await expect(late).rejects.toBeInstanceOf(ProducerFencedError);
    await successor.publish(topic.publication(['of the successor'], 2));
    const later = zombie.publish(topic.publication(['later'], 3));
    await expect(later).rejects.toBeInstanceOf(ProducerFencedError);
    expect(await values()).toEqual(['of the zombie', 'of the successor']);
    expect(await committed()).toBe(2);
  });

  it('aborts a transaction that a crash has left open', async () => {
    const transaction = await (await topic.transactional()).transaction();
    const messages = [{ partition: 0, value: 'of the crashed publisher' }];
    await transaction.send({ topic: topic.name, messages });
    const publisher = await topic.publisher();
    expect(await lastCommittedRecord(topic.kafka, topic.name, 0)).toBeUndefined();
    await publisher.publish(topic.publication(['next'], 1));
    expect(await values()).toEqual(['next']);
  });

  it('rejects a record that Kafka refuses for its size, publishes nothing, and rejects everything from then on', async () => {
    const publisher = await topic.publisher();
    const large = publisher.publish(topic.publication(['small', 'x'.repeat(2_000_000)], 1));
    await expect(large).rejects.toBeInstanceOf(RecordTooLargeError);
    const next = publisher.publish(topic.publication(['next'], 2));
    await expect(next).rejects.toBeInstanceOf(RecordTooLargeError);
    expect(await values()).toEqual([]);
    expect(await committed()).toBe(-1);
  });

  /**
   * In kafkajs, ten times as many messages in a send take a hundred times as long, and block the
   * event loop.
   */
  it('takes time in proportion to the number of messages', async () => {
    const publisher = await topic.publisher();
    let sent = 0;
    const publish = (count: number) => {
      const padded = numbers(0, count).map((value) => value.padEnd(150));
      return timed(() => publisher.publish(topic.publication(padded, (sent += count))));
    };
    await publish(FEW); // warms up
    const limit = (MANY / FEW) * 4 * (await publish(FEW));
    let many = await publish(MANY);
    if (many >= limit) many = await publish(MANY); // a busy machine may delay one
    expect(many).toBeLessThan(limit);
    await transactionsEnded(topic.kafka, topic.name);
    expect(await committed()).toBe(sent);
  });

  it('leaves no connection open that Kafka has closed and that was opened again', async () => {
    const proxy = await KafkaProxy.toBroker();
    topic.onRemove(() => proxy.close());
    const kafka = testKafka({ brokers: [proxy.broker] });
    const publisher = await TransactionalPublisher.open(kafka, topic.name);
    for (let offset = 1; offset <= 20; offset++) {
      // Fails the produce request and the offset, which are under way at the same time.
      proxy.onRequest(KAFKA_API.txnOffsetCommit, 'cutBefore');
      await publisher.publish(topic.publication([String(offset)], offset));
    }
    await publisher.close();
    await eventually(() => proxy.connections === 0, 'all connections are closed');
    expect(await values()).toEqual(numbers(1, 21));
  });

  it('shares eight connections with all other publishers, but is fenced alone', async () => {
    const proxy = await KafkaProxy.toBroker();
    topic.onRemove(() => proxy.close());
    const kafka = testKafka({ brokers: [proxy.broker] });
    const ids = numbers(0, 24).map((id) => `${topic.name}-${id}`);
    const open = async (transactionalId: string) => {
      const publisher = await TransactionalPublisher.open(kafka, transactionalId);
      topic.onRemove(() => publisher.close());
      return publisher;
    };
    const publishers = await Promise.all(ids.map(open));
    const publishAll = () =>
      Promise.allSettled(
        publishers.map((publisher, id) => {
          const { records, offset } = topic.publication([String(id)], 1);
          const groupId = `${topic.name}-${id}`;
          return publisher.publish({ records, offset: { ...offset, groupId } });
        }),
      );
    await publishAll();
    expect(proxy.connections).toBe(8);
    await open(ids[3]!);
    const failed = (await publishAll()).flatMap((outcome, id) =>
      outcome.status === 'rejected' ? [[id, outcome.reason as Error]] : [],
    );
    expect(failed).toEqual([[3, expect.any(ProducerFencedError)]]);
    await transactionsEnded(topic.kafka, ...ids);
    const expected = [...ids.keys(), ...[...ids.keys()].filter((id) => id !== 3)].map(String);
    expect((await values()).sort()).toEqual(expected.sort());
  });
});
