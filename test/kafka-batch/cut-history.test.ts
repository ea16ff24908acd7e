import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LogGapError } from '#kafka-batch';
import { until } from '../support/instance.js';
import { Collector } from './collector.js';
import { numbers, TestTopic } from './topic.js';

/** kafkajs goes to another offset without a word then, and commits -1 or -2 to the group. */
describe('history that is cut under a running consumer', () => {
  let topic: TestTopic;
  let collector: Collector | undefined;
  beforeEach(async () => {
    topic = await TestTopic.create(2);
  });
  afterEach(async () => {
    await collector?.consumer.close();
    await topic.remove();
  });

  it('stops its partition with what happened, skips nothing, and leaves the position of the group', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    collector = await Collector.start(topic, {
      queue: { high: 0, low: 1, bytes: 1_000_000 },
      before: ({ partition }) => (partition === 0 ? held : Promise.resolve()),
    });
    await topic.send(0, ['a']);
    await until(() => collector?.handed === 1, 'a batch is in hand');
    await collector.consumer.commit(new Map([[0, 1]]));
    await topic.send(0, ['b']);
    await until(() => collector?.isPaused(0) === true, 'the partition is paused with one more');
    await topic.send(0, numbers(0, 10));
    await topic.cut(0, 8);
    release();
    await until(() => collector?.state(0)?.state === 'failed', 'the partition has failed');
    expect(collector.state(0)?.error).toMatchObject({
      constructor: LogGapError,
      expected: 2,
      log: { start: 8, end: 12 },
    });
    expect(collector.values(0)).toEqual(['a', 'b']);
    expect(await topic.committed(topic.name)).toEqual([1, -1]); // -1: never committed

    await topic.send(1, ['the other one goes on']);
    await until(() => collector?.count(1) === 1, 'the other partition goes on');
  });
});
