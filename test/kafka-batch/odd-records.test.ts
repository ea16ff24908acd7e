import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import kafkajs from 'kafkajs';
import { until } from '../support/instance.js';
import { Collector, transactional } from './collector.js';
import { TestTopic } from './topic.js';

describe('a batch consumer', () => {
  let topic: TestTopic;
  let collector: Collector | undefined;
  beforeEach(async () => {
    topic = await TestTopic.create(2);
  });
  afterEach(async () => {
    await collector?.consumer.close();
    await topic.remove();
  });

  it('hands over whatever bytes a record has, and goes on', async () => {
    collector = await Collector.start(topic);
    const garbage = Buffer.from([0x00, 0xff, 0xc3, 0x28, 0x7b]);
    const large = Buffer.alloc(1_000_000, 'x');
    const values = [
      null,
      Buffer.alloc(0),
      large,
      garbage,
      Buffer.from('{"board":'),
      Buffer.from('fine'),
    ];
    const producer = topic.kafka.producer({
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
    });
    await producer.connect();
    for (const value of values)
      await producer.send({ topic: topic.name, messages: [{ partition: 0, key: garbage, value }] });
    await producer.disconnect();
    await until(() => collector?.count(0) === values.length, 'all is handed over');
    expect(collector.records.get(0)?.map(({ value }) => value)).toEqual(values);
    expect(collector.starts).toBe(2);
  });

  it('moves on over fetches of nothing but control records, and of nothing but aborted ones', async () => {
    const producer = await transactional(topic.kafka, topic.name);
    const parts = ['x', 'y', 'z'].map((text) => text.repeat(900_000)); // more than a fetch takes
    for (const values of [['never'], parts]) {
      const transaction = await producer.transaction();
      for (const value of values)
        await transaction.send({ topic: topic.name, messages: [{ partition: 0, value }] });
      await transaction.abort();
    }
    await producer.disconnect();
    collector = await Collector.start(topic);
    await topic.send(0, ['after it']);
    await until(() => collector?.count(0) === 1, 'what comes after it is handed over');
    await topic.send(0, ['and on']);
    await until(() => collector?.count(0) === 2, 'it goes on');
    expect(collector.values(0)).toEqual(['after it', 'and on']);
    expect(collector.starts).toBe(2);
  });

  it.each(['lz4', 'snappy'])(
    'gives up, and names the codec, when a record is compressed with %s',
    async (codec) => {
      const packed = await TestTopic.create(1, { 'compression.type': codec });
      await packed.send(0, ['squeezed']);
      collector = await Collector.start(packed);
      await until(() => collector?.fatal.length === 1, 'it gives up');
      expect(collector.fatal[0]?.message).toContain(`compressed with ${codec}`);
      expect(collector.fatal[0]?.message).toContain('compression.type=gzip');
      await packed.remove();
    },
  );

  it('reads gzip', async () => {
    const packed = await TestTopic.create(1, { 'compression.type': 'gzip' });
    await packed.send(0, ['squeezed']);
    collector = await Collector.start(packed);
    await until(() => collector?.count(0) === 1, 'it is handed over');
    expect(collector.values(0)).toEqual(['squeezed']);
    await packed.remove();
  });
});
