import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  committedOffsets,
  lastCommittedRecord,
  lastRecords,
  logRange,
  logRanges,
  lookAt,
  offsetsAtTime,
  partitionCount,
} from '#kafka-batch';
import { until } from '../support/instance.js';
import { testKafka, transactionsEnded } from '../support/kafka-client.js';
import { KAFKA_ERROR } from '../support/kafka-error-answers.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { numbers, TestTopic } from './topic.js';

describe('look-ups of positions', () => {
  let topic: TestTopic;
  const last = async (partition = 0) => {
    const record = await lastCommittedRecord(topic.kafka, topic.name, partition);
    return record && { offset: record.offset, value: record.value?.toString() };
  };

  beforeEach(async () => {
    topic = await TestTopic.create(2);
  });
  afterEach(() => topic.remove());

  it('return the number of partitions, 0 for a missing topic', async () => {
    expect(await partitionCount(topic.kafka, topic.name)).toBe(2);
    expect(await partitionCount(topic.kafka, 'no-such-topic')).toBe(0);
  });

  it('return the range of a log: empty, filled, cut, and cut to its end', async () => {
    const ranges = async () => {
      const range = await logRange(topic.kafka, topic.name, 0);
      return [range, (await logRanges(topic.kafka, topic.name)).get(0)];
    };
    const twice = (start: number, end: number) => Array.from({ length: 2 }, () => ({ start, end }));
    expect(await ranges()).toEqual(twice(0, 0));
    await topic.send(0, numbers(0, 10));
    expect(await ranges()).toEqual(twice(0, 10));
    await topic.cut(0, 4);
    expect(await ranges()).toEqual(twice(4, 10));
    await topic.cut(0, 10);
    expect(await ranges()).toEqual(twice(10, 10));
    const missing = logRange(topic.kafka, topic.name, 7);
    await expect(missing).rejects.toThrow(`Kafka has no partition 7 of ${topic.name}`);
  });

  it('return the ranges of all partitions in their order, also of new ones, and an error for a missing topic', async () => {
    const { kafka, name } = topic;
    await topic.send(1, ['a']);
    await topic.admin.createPartitions({ topicPartitions: [{ topic: name, count: 12 }] });
    await until(async () => (await partitionCount(kafka, name)) === 12, 'the partitions are known');
    const expected = Array.from({ length: 12 }, (_, partition) => {
      return [partition, { start: 0, end: partition === 1 ? 1 : 0 }];
    });
    expect([...(await logRanges(kafka, name))]).toEqual(expected);
    const missing = logRanges(kafka, `${name}-missing`);
    await expect(missing).rejects.toMatchObject({ type: 'UNKNOWN_TOPIC_OR_PARTITION' });
  });

  it('return ranges that end before an open transaction, or, if asked, after the last record', async () => {
    await topic.send(0, ['before']);
    const transaction = await (await topic.transactional()).transaction();
    await transaction.send({ topic: topic.name, messages: [{ partition: 0, value: 'open' }] });
    const ends = async () => {
      const { kafka, name } = topic;
      const committed = await logRange(kafka, name, 0);
      const written = await logRange(kafka, name, 0, 'written');
      const all = await logRanges(kafka, name, 'written');
      return [committed.end, written.end, all.get(0)?.end];
    };
    expect(await ends()).toEqual([1, 2, 2]);
    await transaction.abort();
    await transactionsEnded(topic.kafka, topic.name);
    expect(await ends()).toEqual([3, 3, 3]);
  });

  it('wait for the coordinator of a group', async () => {
    const proxy = await KafkaProxy.toBroker();
    const admin = testKafka({ brokers: [proxy.broker] }).admin();
    try {
      await admin.connect();
      const action = { error: KAFKA_ERROR.notCoordinator, executed: false };
      proxy.onRequest(KAFKA_API.offsetFetch, action, { times: 3 });
      expect(await committedOffsets(admin, topic.name, topic.name)).toEqual(new Map());
    } finally {
      await admin.disconnect();
      await proxy.close();
    }
  });

  it('ignore negative offsets of a group', async () => {
    const committed = () => committedOffsets(topic.admin, topic.name, topic.name);
    expect(await committed()).toEqual(new Map());
    const publisher = await topic.publisher();
    for (const offset of [-2, 0, -1, 2]) {
      await publisher.publish(topic.publication([], offset));
      await until(async () => (await topic.committed())[0] === offset, `${offset} is stored`);
      expect(await committed()).toEqual(new Map(offset < 0 ? [] : [[0, offset]]));
    }
  });

  it('return the last record of a partition as it was written', async () => {
    const written = { key: 'k', value: 'v', headers: { ce_id: 'x' }, timestamp: '1700000000000' };
    await topic.send(0, ['before']);
    await topic.produce([{ partition: 0, ...written }]);
    expect(await lastCommittedRecord(topic.kafka, topic.name, 0)).toMatchObject({
      offset: 1,
      timestamp: 1_700_000_000_000,
      key: Buffer.from('k'),
      value: Buffer.from('v'),
      headers: { ce_id: Buffer.from('x') },
    });
    expect([await last(1), await last(7)]).toEqual([undefined, undefined]);
  });

  it('return the last records of a partition, as many as a fetch of 1 MiB has', async () => {
    const values = async (offsets: number) => {
      const records = await lastRecords(topic.kafka, topic.name, 0, offsets);
      return records.map(({ value }) => String(value).slice(0, 2));
    };
    expect(await values(10)).toEqual([]);
    await topic.send(0, numbers(0, 10));
    const publisher = await topic.publisher();
    // and a marker, as in the topic of dead letters
    await publisher.publish(topic.publication(['a', 'b'], 1));
    expect(await values(20)).toEqual([...numbers(0, 10), 'a', 'b']);
    expect(await values(4)).toEqual(['9', 'a', 'b']);
    for (let id = 0; id < 8; id++) await topic.send(0, [`${id}:`.padEnd(300_000)]);
    expect(await values(20)).toEqual(['6:', '7:']);
  });

  it('see a transaction only once it is committed', async () => {
    await topic.send(0, ['before']);
    const transaction = await (await topic.transactional()).transaction();
    await transaction.send({ topic: topic.name, messages: [{ partition: 0, value: 'open' }] });
    expect(await last()).toEqual({ offset: 0, value: 'before' });
    await transaction.commit();
    await transactionsEnded(topic.kafka, topic.name);
    expect(await last()).toEqual({ offset: 1, value: 'open' });
  });

  it('search back over many aborted records', async () => {
    const abort = () => topic.transact(numbers(0, 50), 'abort');
    await abort();
    await abort();
    expect(await last()).toBeUndefined();
    await topic.transact(['committed'], 'commit');
    await abort();
    await abort();
    expect(await last()).toEqual({ offset: 102, value: 'committed' });
  });

  it('find the offsets of a time: the start of the log for an early time, its end for a late one', async () => {
    const at = (partition: number, timestamp: string) => ({ partition, value: 'x', timestamp });
    const times = ['1000', '2000', '2000', '1500', '3000'];
    await topic.produce([...times.map((time) => at(0, time)), at(1, '5000')]);
    const offsets = async (time: number) => {
      const found = await offsetsAtTime(topic.admin, topic.name, time);
      return [found.get(0), found.get(1)];
    };
    for (const time of [-1, -2, 0, 1_000]) expect(await offsets(time)).toEqual([0, 0]);
    expect(await offsets(1_001)).toEqual([1, 0]);
    expect(await offsets(2_000.5)).toEqual([4, 0]);
    expect(await offsets(3_001)).toEqual([5, 0]);
    expect(await offsets(9_999_999_999_999)).toEqual([5, 1]);
  });

  it('find records of many partitions at once, more than fit in one response, although one look-up fails', async () => {
    const many = await TestTopic.create(14);
    topic.onRemove(() => many.remove());
    const { kafka, name } = many;
    const partitions = Array.from({ length: 14 }, (_, partition) => partition);
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
  });
});
