import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LogGapError } from '#kafka-batch';
import { until } from '../support/instance.js';
import { Collector } from './collector.js';
import { numbers, TestTopic } from './topic.js';

/** kafkajs silently goes to another offset, and commits -1 or -2 to the group. */
describe('a log whose history is cut', () => {
  let topic: TestTopic;
  beforeEach(async () => {
    topic = await TestTopic.create(2);
  });
  afterEach(() => topic.remove());

  it('stops a running partition, skips nothing, and keeps the committed offset of the group', async () => {
    const collector = new Collector(topic, { queue: { high: 0, low: 1, bytes: 1_000_000 } });
    const release = collector.hold(0);
    await collector.start();
    await topic.send(0, ['a']);
    await until(() => collector.entered === 1, 'a batch is handled');
    await collector.consumer.commit(new Map([[0, 1]]));
    await topic.send(0, ['b']);
    await until(() => collector.isPaused(0), 'another batch waits, the partition is paused');
    await topic.send(0, numbers(0, 10));
    await topic.cut(0, 8);
    release();
    await until(() => collector.state(0)?.state === 'failed', 'the partition has failed');
    expect(collector.state(0)?.error).toMatchObject({
      constructor: LogGapError,
      expected: 2,
      log: { start: 8, end: 12 },
    });
    expect(collector.values(0)).toEqual(['a', 'b']);
    expect(await topic.committed()).toEqual([1, -1]);

    await topic.send(1, ['c']);
    await until(() => collector.count(1) === 1, 'the other partition continues');
  });

  it('stops a partition at its start, also when no record is left', async () => {
    await topic.send(0, numbers(0, 10));
    await topic.cut(0, 10);
    const collector = new Collector(topic);
    collector.next.set(0, 3);
    await collector.start();
    await until(() => collector.state(0)?.state === 'failed', 'the partition has failed');
    expect(collector.state(0)?.error).toMatchObject({ expected: 3, log: { start: 10, end: 10 } });
    expect(collector.count(0)).toBe(0);
  });
});
