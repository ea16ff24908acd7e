import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import kafkajs, { type Producer } from 'kafkajs';
import { committedOffset, lastCommittedRecord, lookAt, TransactionalPublisher } from '#kafka-batch';
import { until } from '../support/instance.js';
import { transactionsEnded } from '../support/transactions.js';
import { numbers, TestTopic } from './topic.js';

describe('positions', () => {
  let topic: TestTopic;
  const producers: Producer[] = [];
  const committed = (partition = 0) =>
    committedOffset(topic.admin, topic.name, topic.name, partition);
  /** What Kafka itself has for partition 0; it shows the offset of a transaction a little late. */
  const stored = async () => {
    const [found] = await topic.admin.fetchOffsets({ groupId: topic.name, topics: [topic.name] });
    return found?.partitions.find(({ partition }) => partition === 0)?.offset;
  };
  const last = async (partition = 0) => {
    const record = await lastCommittedRecord(topic.kafka, topic.name, partition);
    return record && { offset: record.offset, value: record.value?.toString() };
  };

  async function transactional(): Promise<Producer> {
    const producer = topic.kafka.producer({
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
      transactionalId: topic.name,
      idempotent: true,
      maxInFlightRequests: 1,
      retry: { initialRetryTime: 20 },
    });
    await producer.connect();
    producers.push(producer);
    return producer;
  }

  beforeEach(async () => {
    topic = await TestTopic.create(2);
  });
  afterEach(async () => {
    await Promise.all(producers.splice(0).map((producer) => producer.disconnect()));
    await topic.remove();
  });

  it('knows the range of a log: empty, filled, cut, and cut to its end', async () => {
    const range = async (partition = 0) =>
      (await lookAt(topic.kafka, { topic: topic.name, partition })).range;
    expect(await range()).toEqual({ start: 0, end: 0 });
    await topic.send(0, numbers(0, 10));
    expect(await range()).toEqual({ start: 0, end: 10 });
    await topic.cut(0, 4);
    expect(await range()).toEqual({ start: 4, end: 10 });
    await topic.cut(0, 10);
    expect(await range()).toEqual({ start: 10, end: 10 });
    expect(await range(1)).toEqual({ start: 0, end: 0 });
    await expect(range(7)).rejects.toThrow(`Kafka has no partition 7 of ${topic.name}`);
  });

  it('takes the position of a group for missing when there is none or a negative one', async () => {
    expect(await committed()).toBeUndefined();
    const publisher = await TransactionalPublisher.open({
      kafka: topic.kafka,
      transactionalId: topic.name,
    });
    for (const [offset, expected] of [
      [-2, undefined],
      [0, 0],
      [-1, undefined],
      [2, 2],
    ] as const) {
      const position = { groupId: topic.name, topic: topic.name, partition: 0, offset };
      await publisher.publish({ records: [], offset: position });
      await until(async () => (await stored()) === String(offset), `${offset} is stored`);
      expect(await committed()).toBe(expected);
    }
    await publisher.close();
    expect(await committed(1)).toBeUndefined();
    expect(await committed(7)).toBeUndefined();
  });

  it('gives the last record of the partition asked for, as it was written', async () => {
    const producer = await transactional();
    await producer.send({
      topic: topic.name,
      messages: [
        { partition: 0, value: 'before' },
        { partition: 0, key: 'k', value: 'v', headers: { ce_id: 'x' }, timestamp: '1700000000000' },
      ],
    });
    expect(await lastCommittedRecord(topic.kafka, topic.name, 0)).toMatchObject({
      offset: 1,
      timestamp: 1_700_000_000_000,
      key: Buffer.from('k'),
      value: Buffer.from('v'),
      headers: { ce_id: Buffer.from('x') },
    });
    expect(await last(1)).toBeUndefined();
    expect(await last(7)).toBeUndefined();
  });

  it('does not see a transaction while it is open, sees it once it is committed', async () => {
    const producer = await transactional();
    await producer.send({ topic: topic.name, messages: [{ partition: 0, value: 'before' }] });
    const before = await last();
    const transaction = await producer.transaction();
    await transaction.send({ topic: topic.name, messages: [{ partition: 0, value: 'open' }] });
    expect(before).toMatchObject({ value: 'before' });
    expect(await last()).toEqual(before);
    await transaction.commit();
    await transactionsEnded(topic.kafka, topic.name);
    expect(await last()).toMatchObject({ value: 'open' });
  });

  it('finds nothing in a log of aborted records alone, and in one that was cut to its end', async () => {
    const producer = await transactional();
    for (let round = 0; round < 3; round++) {
      const transaction = await producer.transaction();
      const messages = numbers(0, 50).map((value) => ({ partition: 0, value }));
      await transaction.send({ topic: topic.name, messages });
      await transaction.abort();
    }
    expect(await last()).toBeUndefined();
    await topic.send(1, numbers(0, 3));
    await topic.cut(1, 3);
    expect(await last(1)).toBeUndefined();
  });

  it('finds the last record of many that do not fit in one answer', async () => {
    const filler = 'x'.repeat(200_000);
    for (const round of numbers(0, 4))
      await topic.send(
        0,
        numbers(0, 4).map((n) => n + round + filler),
      );
    await topic.send(0, ['last']);
    expect(await last()).toEqual({ offset: 16, value: 'last' });
  });

  it('finds those of many partitions at once, more than fit in one response, though one fails', async () => {
    const many = await TestTopic.create(14);
    const { kafka, name } = many;
    const partitions = Array.from({ length: 14 }, (_, partition) => partition);
    try {
      for (const partition of partitions)
        await many.send(partition, [`${partition} first`, 'x'.repeat(900_000), `${partition}`]);
      const find = async () => {
        const first = async (partition: number) =>
          (await lookAt(kafka, { topic: name, partition, offset: 0 })).record;
        const found = await Promise.all([
          ...partitions.map((partition) => lastCommittedRecord(kafka, name, partition)),
          ...partitions.map(first),
        ]);
        return found.map((record) => record?.value?.toString());
      };
      const expected = [...partitions.map(String), ...partitions.map((p) => `${p} first`)];
      expect(await find()).toEqual(expected);
      const missing = lastCommittedRecord(kafka, `${name}-missing`, 0);
      const found = find();
      await expect(missing).rejects.toMatchObject({ type: 'UNKNOWN_TOPIC_OR_PARTITION' });
      expect(await found).toEqual(expected);
    } finally {
      await many.remove();
    }
  });
});
