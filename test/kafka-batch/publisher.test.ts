import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  committedOffset,
  lastCommittedRecord,
  lookAt,
  partitionCount,
  ProducerFencedError,
  RecordTooLargeError,
  TransactionalPublisher,
} from '#kafka-batch';
import { readCommitted } from '../support/results.js';
import { transactionsEnded } from '../support/transactions.js';
import { numbers, TestTopic } from './topic.js';

describe('TransactionalPublisher', () => {
  let topic: TestTopic;
  const publishers: TransactionalPublisher[] = [];
  const open = async () => {
    const publisher = await TransactionalPublisher.open({
      kafka: topic.kafka,
      transactionalId: topic.name,
    });
    publishers.push(publisher);
    return publisher;
  };
  const publication = (values: readonly string[], offset: number) => ({
    records: [{ topic: topic.name, partition: 0, messages: values.map((value) => ({ value })) }],
    offset: { groupId: topic.name, topic: topic.name, partition: 0, offset },
  });
  const committed = () => committedOffset(topic.admin, topic.name, topic.name, 0);
  const values = async () =>
    (await readCommitted(topic.kafka, topic.name)).map(({ value }) => value?.toString());
  const lastValue = async () =>
    (await lastCommittedRecord(topic.kafka, topic.name, 0))?.value?.toString();

  beforeEach(async () => {
    topic = await TestTopic.create(2);
  });
  afterEach(async () => {
    await Promise.all(publishers.splice(0).map((publisher) => publisher.close()));
    await topic.remove();
  });

  it('makes records and position visible, transaction after transaction, more than one send takes', async () => {
    const publisher = await open();
    expect([await committed(), await lastValue()]).toEqual([undefined, undefined]);
    const headers = Object.fromEntries(numbers(0, 5).map((name) => [name, 'x'.repeat(40)]));
    const messages = numbers(0, 4_500).map((value) => ({ value, headers }));
    const { offset } = publication([], 4_500);
    await publisher.publish({ records: [{ topic: topic.name, partition: 0, messages }], offset });
    await publisher.publish(publication(['last'], 4_501));
    await publisher.publish(publication([], 4_502));

    await transactionsEnded(topic.kafka, topic.name);
    expect(await values()).toEqual([...numbers(0, 4_500), 'last']);
    expect([await committed(), await lastValue()]).toEqual([4_502, 'last']);
  });

  it('fences the one before it: nothing more of that one is visible', async () => {
    const zombie = await open();
    await zombie.publish(publication(['of the zombie'], 1));
    const successor = await open();
    await expect(zombie.publish(publication(['too late'], 2))).rejects.toBeInstanceOf(
      ProducerFencedError,
    );
    await successor.publish(publication(['of the successor'], 2));
    await expect(zombie.publish(publication(['far too late'], 3))).rejects.toBeInstanceOf(
      ProducerFencedError,
    );

    await transactionsEnded(topic.kafka, topic.name);
    expect(await values()).toEqual(['of the zombie', 'of the successor']);
    expect(await committed()).toBe(2);
  });

  it('finishes a transaction that a crash has left open, without its records', async () => {
    const crashed = topic.kafka.producer({
      transactionalId: topic.name,
      idempotent: true,
      maxInFlightRequests: 1,
    });
    await crashed.connect();
    const transaction = await crashed.transaction();
    await transaction.send({
      topic: topic.name,
      messages: [{ partition: 0, value: 'of the crashed one' }],
    });

    const publisher = await open();
    expect(await lastValue()).toBeUndefined();
    await publisher.publish(publication(['after it'], 1));
    await transactionsEnded(topic.kafka, topic.name);
    expect(await values()).toEqual(['after it']);
    await crashed.disconnect();
  });

  it('refuses a record that Kafka finds too large, shows nothing of it, and does not go on', async () => {
    const publisher = await open();
    const large = publication(['small', 'x'.repeat(2_000_000)], 1);
    await expect(publisher.publish(large)).rejects.toBeInstanceOf(RecordTooLargeError);
    await expect(publisher.publish(publication(['next'], 2))).rejects.toBeInstanceOf(
      RecordTooLargeError,
    );
    expect(await values()).toEqual([]);
    expect(await committed()).toBeUndefined();
  });

  it('looks back over many aborted records to the last committed one', async () => {
    const publisher = await open();
    await publisher.publish(publication(['kept'], 1));
    await publisher.close();
    publishers.length = 0;
    const producer = topic.kafka.producer({
      transactionalId: topic.name,
      idempotent: true,
      maxInFlightRequests: 1,
      retry: { initialRetryTime: 20 },
    });
    await producer.connect();
    for (let round = 0; round < 3; round++) {
      const transaction = await producer.transaction();
      await transaction.send({
        topic: topic.name,
        messages: numbers(0, 100).map((value) => ({ partition: 0, value })),
      });
      await transaction.abort();
    }
    await producer.disconnect();
    await transactionsEnded(topic.kafka, topic.name);
    expect(await lastValue()).toBe('kept');
    const { range } = await lookAt(topic.kafka, { topic: topic.name, partition: 0 });
    expect(range.end).toBe(305);
  });

  it('knows how many partitions there are', async () => {
    expect(await partitionCount(topic.kafka, topic.name)).toBe(2);
    expect(await partitionCount(topic.kafka, 'no-such-topic')).toBe(0);
  });
});
