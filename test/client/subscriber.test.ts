import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import kafkajs from 'kafkajs';
import {
  LeaderChangeSubscriber,
  ResultGapError,
  ResultTopicReplacedError,
  SubscriberUsedError,
  UnreadableResultError,
  type RankChange,
  type ResultGap,
  type SubscriberOptions,
} from '#client';
import { Backoff, BatchConsumer } from '#kafka-batch';
import { writeInterleaved } from '../kafka-batch/interleaved.js';
import { TestTopic } from '../kafka-batch/topic.js';
import { until } from '../support/instance.js';
import { seededRandom } from '../support/seeded-random.js';
import { groupOf, hold, result, results, subscribe as subscribeTo } from './rank-change-topic.js';

let topic: TestTopic;
let seen: number[];
const record = ({ source }: RankChange) => void seen.push(source.offset);
const groupId = () => groupOf(topic);
const committed = () => topic.committed(groupId());
beforeEach(async () => {
  topic = await TestTopic.create(2, {}, '.rank-changes');
  seen = [];
});
afterEach(() => topic.remove());

const subscribe = (
  handle: (change: RankChange) => Promise<void> | void,
  options: Partial<SubscriberOptions> = {},
) => subscribeTo(topic, handle, options);

describe('a subscriber', () => {
  it('continues a partition while the handler of another one is busy', async () => {
    const { held, release } = hold();
    await subscribe(async (change) => {
      if (change.source.offset === 0) await held;
      record(change);
    });
    await topic.send(0, [result(0)]);
    for (let sent = 1; sent <= 5; sent++) {
      await topic.send(1, [result(sent)]);
      await until(() => seen.at(-1) === sent, `result ${sent} is handled`);
    }
    release();
    await until(() => seen.at(-1) === 0, 'the busy handler is done');
    expect(seen).toEqual([1, 2, 3, 4, 5, 0]);
  });

  it.each([
    ['null', null],
    ['not JSON', '{"board":'],
    ['another object', '{"board":"arena"}'],
  ])('ends at a record that is not a result (%s), and reports its offset', async (_, value) => {
    await topic.send(1, [result(0), value, result(2)]);
    const subscriber = await subscribe(record);
    await expect(subscriber.failed).rejects.toMatchObject({
      constructor: UnreadableResultError,
      topic: topic.name,
      partition: 1,
      offset: 1,
    });
    await subscriber.stop();
    expect(seen).toEqual([0]);
    expect(await committed()).toEqual([0, 1]);
  });

  it('delivers only the committed results of interleaved transactions', async () => {
    const { random, seed } = seededRandom();
    process.stdout.write(`seed ${seed}\n`);
    const message = (step: number) => ({ value: result(step) });
    const committed = await writeInterleaved(topic, { message, steps: 40, random });
    await topic.send(0, [result(1_000)]);
    await subscribe(record);
    await until(() => seen.at(-1) === 1_000, 'all results are handled');
    expect(seen).toEqual([...committed, 1_000]);
  });

  it('ends if a subscriber of another kind is in its group; the other one gets all its results', async () => {
    const { kafka, prefix, name } = topic;
    await topic.send(0, results(0, 2));
    await topic.send(1, results(2, 4));
    const ofChanges = await subscribe(record);
    const other = `${prefix}.leader-changes`;
    await topic.admin.createTopics({ topics: [{ topic: other, numPartitions: 2 }] });
    topic.onRemove(() => topic.admin.deleteTopics({ topics: [other] }));
    const options = { kafka, groupId: groupId(), topicPrefix: prefix, fromBeginning: true };
    const ofLeaders = new LeaderChangeSubscriber(options);
    topic.onRemove(() => ofLeaders.stop());
    const started = ofLeaders.start(() => undefined);
    const ended = [ofChanges.failed, started.then(() => ofLeaders.failed)];
    await expect(Promise.race(ended)).rejects.toMatchObject({
      name: 'GroupInUseError',
      code: 'GROUP_IN_USE',
      message: expect.stringMatching(`${name}.*give each kind of subscriber a group of its own`),
    });
    await Promise.allSettled([started]);
    if (seen.length < 4) await subscribe(record); // it was this one that ended
    await until(() => new Set(seen).size === 4, 'all results are delivered');
  });

  it('starts once, and not after it was stopped', async () => {
    const subscriber = await subscribe(record);
    await expect(subscriber.start(record)).rejects.toThrow(
      `this subscriber of group ${groupId()} was started before, and a subscriber starts once`,
    );
    await subscriber.stop();
    await expect(subscriber.start(record)).rejects.toThrow(SubscriberUsedError);
    await expect(subscriber.start(record)).rejects.toThrow('was stopped before');
  });

  it('waits for the running handler when it stops, and commits its offset', async () => {
    const { held, release } = hold();
    await topic.send(0, results(0, 3));
    const subscriber = await subscribe(async (change) => {
      if (change.source.offset === 1) await held;
      record(change);
    });
    await until(() => seen.length === 1, 'the second handler runs');
    const stopping = subscriber.stop();
    release();
    await stopping;
    expect(seen).toEqual([0, 1]);
    expect(await committed()).toEqual([2, 0]);
  });

  it('commits offsets while it runs, also in the middle of a batch', async () => {
    const { held, release } = hold();
    await topic.send(0, results(0, 5));
    await subscribe(({ source }) => (source.offset === 3 ? held : undefined));
    await until(async () => (await committed())[0] === 3, 'three are committed');
    release();
    await until(async () => (await committed())[0] === 5, 'all are committed');
  });

  it('loses nothing while members of its group come and go', async () => {
    const first = await subscribe(record);
    const count = () => new Set(seen).size;
    for (let round = 0; round < 4; round++) {
      await topic.send(round % 2, results(round * 200, round * 200 + 200));
      const other = await subscribe(record);
      await topic.send(1 - (round % 2), results(1_000 + round * 200, 1_200 + round * 200));
      await other.stop();
    }
    await until(() => count() === 1_600, 'all results are handled');
    await first.stop();
    expect(await committed()).toEqual([800, 800]);
  });
});

describe('a subscriber whose partitions fail to start', () => {
  const fail = async (error: Error) => {
    await topic.send(0, results(0, 2));
    await topic.admin.setOffsets({
      groupId: groupId(),
      topic: topic.name,
      partitions: [{ partition: 0, offset: '0' }],
    });
    await topic.cut(0, 1);
    let failures = 0;
    jest.spyOn(Backoff.prototype, 'next').mockReturnValue(1);
    const onGap = () => {
      if (++failures <= 15) throw error;
    };
    return { subscriber: await subscribe(record, { onGap }), failures: () => failures };
  };
  afterEach(() => void jest.restoreAllMocks());

  it('continues after 15 failures of Kafka', async () => {
    const { failures } = await fail(new kafkajs.KafkaJSConnectionError('no broker'));
    await until(() => seen.length === 1, 'the partition has started');
    expect(failures()).toBe(16);
  });

  it('ends after 10 failures of the application', async () => {
    const { subscriber, failures } = await fail(new Error('no database'));
    await expect(subscriber.failed).rejects.toThrow('no database');
    expect(failures()).toBe(10);
  });
});

describe('the offset of a subscriber', () => {
  it('is the one after its last result when it joins again, also if commits were lost', async () => {
    const starts: string[] = [];
    const subscriber = await subscribe(record);
    const commit = jest
      .spyOn(BatchConsumer.prototype, 'commit')
      .mockImplementation(() => Promise.resolve()); // kafkajs drops commits while it restarts
    await topic.send(0, results(0, 3));
    await until(() => seen.length === 3, 'three are handled');
    const other = await subscribe((change) => void starts.push(String(change.source.offset)));
    await other.stop();
    commit.mockRestore();
    await topic.send(0, results(3, 4));
    await until(() => seen.at(-1) === 3 || starts.includes('3'), 'the next one is handled');
    await until(async () => (await committed())[0] === 4, 'it is committed');
    await subscriber.stop();
    expect(seen).toEqual([0, 1, 2, 3]);
  });

  it('stays when the next results were deleted, unless there is an onGap: then it moves past them', async () => {
    await topic.send(0, results(0, 2));
    const first = await subscribe(record);
    await until(() => seen.length === 2, 'two results are handled');
    await first.stop();
    await topic.send(0, results(2, 10));
    await topic.cut(0, 6);

    const gap = { topic: topic.name, partition: 0, from: 2, to: 6 };
    const failing = await subscribe(record);
    await expect(failing.failed).rejects.toMatchObject({ constructor: ResultGapError, gap });
    await failing.stop();
    expect(seen).toEqual([0, 1]);
    expect(await committed()).toEqual([2, 0]);

    const gaps: ResultGap[] = [];
    const subscriber = await subscribe(record, { onGap: (one) => void gaps.push(one) });
    await until(() => seen.at(-1) === 9, 'the rest is handled');
    await subscriber.stop();
    expect(gaps).toEqual([gap]);
    expect(seen).toEqual([0, 1, 6, 7, 8, 9]);
    expect(await committed()).toEqual([10, 0]);
  });

  it.each([true, false])(
    'moves past results that are deleted while the subscriber runs, but only with onGap (with onGap: %p)',
    async (hasOnGap) => {
      const gaps: ResultGap[] = [];
      const onGap = (gap: ResultGap) => void gaps.push(gap);
      const { held, release } = hold();
      // more than the queue of a partition takes, so that some are fetched later
      const many = 20_000;
      for (let from = 0; from < many; from += 2_000)
        await topic.send(0, results(from, from + 2_000));
      let isEntered = false;
      const handle = async (change: RankChange) => {
        isEntered = true;
        await held;
        record(change);
      };
      const subscriber = await subscribe(handle, hasOnGap ? { onGap } : {});
      const isStarted = async () => isEntered && (await committed())[0] === 0;
      await until(isStarted, 'the first handler runs');
      await topic.cut(0, many - 1);
      release();
      if (hasOnGap) {
        await until(() => seen.at(-1) === many - 1, 'it has continued');
        expect(gaps).toMatchObject([{ partition: 0, to: many - 1 }]);
        expect(seen.at(-2)).toBe((gaps[0]?.from ?? NaN) - 1);
      } else {
        await expect(subscriber.failed).rejects.toMatchObject({ gap: { to: many - 1 } });
        await subscriber.stop();
        expect(await committed()).toEqual([(seen.at(-1) ?? NaN) + 1, 0]);
      }
    },
  );

  it('stays when the topic ends before it, as after a restore from a backup', async () => {
    await topic.send(0, results(0, 5));
    await topic.admin.setOffsets({
      groupId: groupId(),
      topic: topic.name,
      partitions: [{ partition: 0, offset: '50' }],
    });
    const onGap = () => undefined;
    const subscriber = await subscribe(record, { onGap });
    await expect(subscriber.failed).rejects.toMatchObject({
      constructor: ResultTopicReplacedError,
      at: { partition: 0, position: 50 },
      end: 5,
    });
    await subscriber.stop();
    expect(seen).toEqual([]);
    expect(await committed()).toEqual([50, 0]);
  });

  it('of a new group is that of the next result, also if the group stops before there is one', async () => {
    await topic.send(0, results(0, 3));
    const first = await subscribe(record, { fromBeginning: false });
    await until(async () => (await committed())[0] === 3, 'the group has its offset');
    await first.stop();
    await topic.send(0, results(3, 5));
    await subscribe(record, { fromBeginning: false });
    await until(() => seen.at(-1) === 4, 'the next results are handled');
    expect(seen).toEqual([3, 4]);
  });

  it('of a partition that was added later is that of its first result', async () => {
    await topic.send(0, results(0, 1));
    const first = await subscribe(record, { fromBeginning: false });
    await topic.send(0, results(1, 2));
    await until(() => seen.length === 1, 'the group has started');
    await first.stop();
    await topic.admin.createPartitions({
      topicPartitions: [{ topic: topic.name, count: 3 }],
    });
    const hasLeaders = () =>
      topic.admin.fetchTopicOffsets(topic.name).then(
        () => true,
        () => false,
      );
    await until(hasLeaders, 'the new partitions have leaders');
    await topic.send(2, results(10, 12));
    await subscribe(record, { fromBeginning: false });
    await until(() => seen.includes(11), 'the results of the new partition are handled');
    expect(seen).toEqual([1, 10, 11]);
  });
});
