import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Kafka } from 'kafkajs';
import { lastCommittedRecord, ProducerFencedError, TransactionalPublisher } from '#kafka-batch';
import { until } from '../support/instance.js';
import { testKafka, transactionsEnded } from '../support/kafka-client.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { TestTopic } from './topic.js';

const PARTITIONS = Array.from({ length: 24 }, (_, partition) => partition);

describe('publishers of many partitions', () => {
  let topic: TestTopic;
  let proxy: KafkaProxy;
  let kafka: Kafka;
  let publishers: TransactionalPublisher[];
  const open = (partition: number) =>
    TransactionalPublisher.open({ kafka, transactionalId: `${topic.name}-${partition}` });
  const publish = async (partition: number, value: string) =>
    publishers[partition]?.publish({
      records: [{ topic: topic.name, partition, messages: [{ value }] }],
      offset: { groupId: topic.name, topic: topic.name, partition, offset: 1 },
    });
  const publishAll = (value: string) =>
    Promise.allSettled(PARTITIONS.map((partition) => publish(partition, value)));
  const lastValues = async () => {
    await transactionsEnded(topic.kafka, topic.name);
    const last = PARTITIONS.map((partition) =>
      lastCommittedRecord(topic.kafka, topic.name, partition),
    );
    return (await Promise.all(last)).map((record) => record?.value?.toString());
  };

  beforeEach(async () => {
    topic = await TestTopic.create(PARTITIONS.length);
    proxy = await KafkaProxy.toBroker();
    kafka = testKafka({ brokers: [proxy.broker] });
    publishers = await Promise.all(PARTITIONS.map(open));
  });
  afterEach(async () => {
    await Promise.all(publishers.map((publisher) => publisher.close()));
    await until(() => proxy.connections === 0, 'the last publisher has closed the connections');
    await proxy.close();
    await topic.remove();
  });

  it('share eight connections, and are fenced individually', async () => {
    await publishAll('first');
    expect(proxy.connections).toBe(8);
    const successor = await open(3);
    const outcomes = await publishAll('second');
    const failed = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as Error] : [],
    );
    expect(failed).toEqual([expect.any(ProducerFencedError)]);
    expect(await lastValues()).toEqual(PARTITIONS.map((p) => (p === 3 ? 'first' : 'second')));
    await successor.close();
  });

  it('continue after some of them were closed, and after all connections were lost', async () => {
    await publishAll('first');
    for (const partition of [0, 1, 2, 3]) await publishers[partition]?.close();
    proxy.cut();
    proxy.restore();
    await publishAll('second');
    for (const partition of PARTITIONS) {
      await publishers[partition]?.close();
      publishers[partition] = await open(partition);
    }
    await publishAll('third');
    expect(await lastValues()).toEqual(PARTITIONS.map(() => 'third'));
    await until(() => proxy.connections <= 8, 'no old connection is left');
  });
});
