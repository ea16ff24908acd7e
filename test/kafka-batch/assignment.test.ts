import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../support/instance.js';
import { Collector } from './collector.js';
import { numbers, TestTopic } from './topic.js';

describe('an assigned partition', () => {
  let topic: TestTopic;
  beforeEach(async () => {
    topic = await TestTopic.create(2);
  });
  afterEach(() => topic.remove());

  it('is paused until the application has found its offset, and starts there', async () => {
    await topic.send(0, numbers(0, 10));
    await topic.admin.setOffsets({
      groupId: topic.name,
      topic: topic.name,
      partitions: [{ partition: 0, offset: '2' }], // the application's offset counts
    });
    let found: (offset: number) => void = () => undefined;
    const offset = new Promise<number>((resolve) => (found = resolve));
    const collector = new Collector(topic);
    collector.find = () => offset;
    await collector.start();
    await until(() => collector.assignments.has(0), 'the partition is assigned');
    expect([collector.isPaused(0), collector.isPaused(1)]).toEqual([true, true]);
    expect(collector.state(0)?.state).toBe('starting');
    expect(collector.entered).toBe(0);
    found(0);
    await until(() => collector.count(0) >= 10, 'all records are delivered');
    expect(collector.values(0)).toEqual(numbers(0, 10));
  });

  it('belongs to one member at a time, as members come and go', async () => {
    const partitionsOf = ({ consumer }: Collector) => [...consumer.health().partitions.keys()];
    const owns = (member: Collector, partition: number) =>
      member.assignments.get(partition)?.stillOurs();
    const first = await Collector.start(topic);
    await until(() => partitionsOf(first).length === 2, 'the first member has both');
    expect([await owns(first, 0), await owns(first, 1)]).toEqual([true, true]);

    const second = await Collector.start(topic);
    await until(
      () => partitionsOf(first).length === 1 && partitionsOf(second).length === 1,
      'each member has one',
    );
    const moved = partitionsOf(second)[0]!;
    expect(await owns(first, moved)).toBe(false);
    expect(await owns(second, moved)).toBe(true);
    expect(await owns(first, 1 - moved)).toBe(true);

    await second.consumer.close();
    await until(() => partitionsOf(first).length === 2, 'the first member has both again');
    expect(await owns(first, moved)).toBe(true);
  });
});
