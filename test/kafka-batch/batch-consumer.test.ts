import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LogGapError, UnreadableBatchError } from '#kafka-batch';
import { testKafka } from '../support/kafka-client.js';
import { until } from '../support/instance.js';
import { KAFKA_ERROR } from '../support/kafka-error-answers.js';
import { KAFKA_API } from '../support/kafka-frames.js';
import { KafkaProxy } from '../support/kafka-proxy.js';
import { Collector } from './collector.js';
import { RollingGroup } from './rolling-group.js';
import { numbers, TestTopic } from './topic.js';

/**
 * With this queue, a partition is paused as soon as one batch waits while another one is handled.
 */
const SHORT_QUEUE = { queue: { high: 0, low: 1, bytes: 1_000_000 } };

describe('a batch consumer', () => {
  let topic: TestTopic;
  beforeEach(async () => {
    topic = await TestTopic.create(2);
  });
  afterEach(() => topic.remove());

  it('pauses an assigned partition until the application has found its offset, and starts there', async () => {
    await topic.send(0, numbers(0, 10));
    await topic.admin.setOffsets({
      groupId: topic.name,
      topic: topic.name,
      // The offset that the application finds is used instead
      partitions: [{ partition: 0, offset: '2' }],
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

  it('is the only one that has a partition, as members of its group come and go', async () => {
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

  it.each([3, 8])(
    'moves few partitions when one of %i members is replaced, and does not start again those that stay',
    async (size) => {
      const deploy = await RollingGroup.create(24);
      topic.onRemove(() => deploy.topic.remove());
      for (let started = 0; started < size; started++) await deploy.join();
      await deploy.settle();
      const moved: number[] = [];
      for (let replaced = 0; replaced < 3; replaced++)
        for (const step of [() => deploy.leave(), () => deploy.join()]) {
          const before = { owners: deploy.owners(), starts: deploy.starts };
          await step();
          await deploy.settle();
          const moves = [...deploy.owners()].filter(([p, owner]) => before.owners.get(p) !== owner);
          expect(deploy.starts - before.starts).toBe(moves.length);
          moved.push(moves.length);
        }
      const average = moved.reduce((sum, count) => sum + count, 0) / moved.length;
      expect(average).toBeLessThan(size === 3 ? 15 : 9); // kafkajs's round robin moves 16 and 21
      expect(deploy.fatal).toEqual([]);
    },
  );

  /** kafkajs would silently go to another offset, and commit -1 or -2 to the group. */
  it('stops a running partition whose history is cut, and keeps its committed offset', async () => {
    const collector = new Collector(topic, SHORT_QUEUE);
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

  it('stops a partition at its start if its history is cut to the end', async () => {
    await topic.send(0, numbers(0, 10));
    await topic.cut(0, 10);
    const collector = new Collector(topic);
    collector.next.set(0, 3);
    await collector.start();
    await until(() => collector.state(0)?.state === 'failed', 'the partition has failed');
    expect(collector.state(0)?.error).toMatchObject({ expected: 3, log: { start: 10, end: 10 } });
    expect(collector.count(0)).toBe(0);
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
    expect(collector.starts).toBe(2); // gaps in the offsets are no loss
  });

  it('stops only the partition of a batch that it cannot read, after the records before it', async () => {
    await topic.send(0, ['a', 'b']);
    await topic.sendTooLarge(0);
    await topic.send(0, ['never']);
    await topic.send(1, ['c']);
    const collector = await Collector.start(topic);
    await until(() => collector.state(0)?.state === 'failed', 'the partition has failed');
    expect(collector.state(0)?.error).toMatchObject({
      constructor: UnreadableBatchError,
      batch: { topic: topic.name, partition: 0, first: 2, last: 2 },
    });
    expect(collector.state(0)?.error?.message).toContain('more than 67108864 bytes');
    expect(collector.values(0)).toEqual(['a', 'b']);
    await topic.send(1, ['d']);
    await until(() => collector.count(1) === 2, 'the other partition continues');
    expect(collector.fatal).toEqual([]);
  });

  /**
   * While the consumer is a member, kafkajs doubles its wait after each fault, even after progress.
   */
  it('reads on soon after each of many transient faults of the group', async () => {
    const proxy = await KafkaProxy.toBroker();
    topic.onRemove(() => proxy.close());
    const collector = await Collector.start(topic, {
      kafka: testKafka({ brokers: [proxy.broker] }),
    });
    for (let fault = 0; fault < 8; fault++) {
      const error = { error: KAFKA_ERROR.requestTimedOut, executed: false };
      const heartbeat = proxy.onRequest(KAFKA_API.heartbeat, error);
      await until(() => heartbeat.isDone, 'a heartbeat has failed');
      await topic.send(0, [String(fault)]);
      await until(() => collector.count(0) === fault + 1, `record ${fault} is read`, 15);
    }
    expect(collector.values(0)).toEqual(numbers(0, 8));
    expect(collector.fatal).toEqual([]);
  });

  /** kafkajs notices a resume only after its wait for a fetch, 5 s by default. */
  it('gets the next record soon after all its partitions were paused', async () => {
    const single = await TestTopic.create(1);
    topic.onRemove(() => single.remove());
    const collector = await Collector.start(single, SHORT_QUEUE);
    const { client } = collector.consumer;
    let turns = 0;
    client.on(client.events.FETCH_START, () => (turns += 1));
    /**
     * Time in ms from the release of the handler, after which the partition is resumed, to the next
     * record.
     */
    const latency = async () => {
      const [entered, count] = [collector.entered, collector.count(0)];
      const release = collector.hold();
      await single.send(0, ['handled']);
      await until(() => collector.entered > entered, 'a batch is handled');
      await single.send(0, ['waiting']);
      await until(() => collector.isPaused(0), 'the partition is paused');
      await single.send(0, ['next']);
      const turnsBefore = turns;
      await until(() => turns > turnsBefore, 'the wait for a fetch has begun');
      release();
      const begin = performance.now();
      await until(() => collector.count(0) === count + 3, 'the next record is delivered');
      return performance.now() - begin;
    };
    const times = [await latency(), await latency(), await latency()];
    expect(Math.min(...times)).toBeLessThan(1_000); // a busy machine may delay some
  });
});
