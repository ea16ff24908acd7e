import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../support/instance.js';
import { Collector } from './collector.js';
import { TestTopic } from './topic.js';

describe('a batch consumer', () => {
  let topic: TestTopic;
  afterEach(() => topic.remove());

  describe('of a plain topic', () => {
    beforeEach(async () => {
      topic = await TestTopic.create(2);
    });

    it('delivers records with any bytes', async () => {
      const garbage = Buffer.from([0x00, 0xff, 0xc3, 0x28, 0x7b]);
      const large = Buffer.alloc(1_000_000, 'x');
      const values = [null, Buffer.alloc(0), large, garbage, Buffer.from('{"board":')];
      const collector = await Collector.start(topic);
      for (const value of values) await topic.produce([{ partition: 0, key: garbage, value }]);
      await until(() => collector.count(0) === values.length, 'all records are delivered');
      expect(collector.records.get(0)?.map(({ value }) => value)).toEqual(values);
      expect(collector.starts).toBe(2);
    });

    it('moves on over fetches of only control records, and of only aborted records', async () => {
      await topic.transact(['never'], 'abort');
      const moreThanAFetch = ['x', 'y', 'z'].map((text) => text.repeat(900_000));
      await topic.transact(moreThanAFetch, 'abort');
      const collector = await Collector.start(topic);
      await topic.send(0, ['next']);
      await until(() => collector.count(0) === 1, 'the next record is delivered');
      await topic.send(0, ['and the next']);
      await until(() => collector.count(0) === 2, 'it continues');
      expect(collector.values(0)).toEqual(['next', 'and the next']);
      expect(collector.starts).toBe(2);
    });
  });

  it.each(['lz4', 'snappy'])('stops, and names the codec, for records in %s', async (codec) => {
    topic = await TestTopic.create(1, { 'compression.type': codec });
    await topic.send(0, ['a']);
    const collector = await Collector.start(topic);
    await until(() => collector.fatal.length === 1, 'it stops');
    expect(collector.fatal[0]?.message).toContain(`compressed with ${codec}`);
    expect(collector.fatal[0]?.message).toContain('compression.type=gzip');
  });

  it('reads gzip', async () => {
    topic = await TestTopic.create(1, { 'compression.type': 'gzip' });
    await topic.send(0, ['a']);
    const collector = await Collector.start(topic);
    await until(() => collector.count(0) === 1, 'the record is delivered');
    expect(collector.values(0)).toEqual(['a']);
  });
});
