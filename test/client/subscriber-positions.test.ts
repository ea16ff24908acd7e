import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ResultGapError,
  ResultTopicReplacedError,
  type RankChange,
  type RankChangeSubscriber,
  type ResultGap,
} from '#client';
import type { TestTopic } from '../kafka-batch/topic.js';
import { until } from '../support/instance.js';
import { groupOf, results, resultTopic, subscriberOf } from './results.js';

describe('the position of a subscriber', () => {
  let topic: TestTopic;
  let seen: number[];
  const started: RankChangeSubscriber[] = [];
  beforeEach(async () => {
    topic = await resultTopic(1);
    seen = [];
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((subscriber) => subscriber.stop()));
    await topic.remove();
  });

  const take = ({ source }: RankChange) => void seen.push(source.offset);
  const subscribe = async (
    options: Parameters<typeof subscriberOf>[1] = {},
    handle: (change: RankChange) => Promise<void> | void = take,
  ) => {
    const subscriber = subscriberOf(topic, options);
    started.push(subscriber);
    await subscriber.start(handle);
    return subscriber;
  };

  /** A group that has handled the first two of ten results, of which the first six are gone then. */
  async function cutBehind(): Promise<void> {
    await topic.send(0, results(0, 2));
    const first = await subscribe();
    await until(() => seen.length === 2, 'two are handled');
    await first.stop();
    await topic.send(0, results(2, 10));
    await topic.cut(0, 6);
  }

  it('is kept when the next results are gone: the subscription ends and says which', async () => {
    await cutBehind();
    const subscriber = await subscribe();
    await expect(subscriber.failed).rejects.toMatchObject({
      constructor: ResultGapError,
      gap: { topic: topic.name, partition: 0, from: 2, to: 6 },
    });
    await subscriber.stop();
    expect(seen).toEqual([0, 1]);
    expect(await topic.committed(groupOf(topic))).toEqual([2]);
  });

  it('goes behind results that are gone, once it has told of them, if that is asked for', async () => {
    await cutBehind();
    const gaps: ResultGap[] = [];
    const subscriber = await subscribe({ onGap: (gap) => void gaps.push(gap) });
    await until(() => seen.at(-1) === 9, 'the rest is handled');
    await subscriber.stop();
    expect(gaps).toEqual([{ topic: topic.name, partition: 0, from: 2, to: 6 }]);
    expect(seen).toEqual([0, 1, 6, 7, 8, 9]);
    expect(await topic.committed(groupOf(topic))).toEqual([10]);
  });

  it.each([true, false])(
    'is told of when results are gone under a subscriber that runs (asked to go on: %p)',
    async (goesOn) => {
      const gaps: ResultGap[] = [];
      const onGap = (gap: ResultGap) => void gaps.push(gap);
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      // more than the queue of a partition takes, so that the rest is fetched later
      const many = 20_000;
      for (let from = 0; from < many; from += 2_000)
        await topic.send(0, results(from, from + 2_000));
      let isEntered = false;
      const subscriber = await subscribe(goesOn ? { onGap } : {}, async (change) => {
        isEntered = true;
        await held;
        take(change);
      });
      await until(
        async () => isEntered && (await topic.committed(groupOf(topic)))[0] === 0,
        'the partition is started, and its first result in hand',
      );
      await topic.cut(0, many - 1);
      release();
      if (goesOn) {
        await until(() => seen.at(-1) === many - 1, 'it has gone on');
        expect(gaps).toMatchObject([{ partition: 0, to: many - 1 }]);
        expect(seen.at(-2)).toBe((gaps[0]?.from ?? NaN) - 1);
      } else {
        await expect(subscriber.failed).rejects.toMatchObject({ gap: { to: many - 1 } });
        await subscriber.stop();
        expect(await topic.committed(groupOf(topic))).toEqual([(seen.at(-1) ?? NaN) + 1]);
      }
    },
  );

  it('is not used in a topic that ends before it, as one that was restored from a backup', async () => {
    await topic.send(0, results(0, 5));
    await topic.admin.setOffsets({
      groupId: groupOf(topic),
      topic: topic.name,
      partitions: [{ partition: 0, offset: '50' }],
    });
    const onGap = () => undefined;
    const subscriber = await subscribe({ onGap });
    await expect(subscriber.failed).rejects.toMatchObject({
      constructor: ResultTopicReplacedError,
      at: { partition: 0, position: 50 },
      end: 5,
    });
    await subscriber.stop();
    expect(seen).toEqual([]);
    expect(await topic.committed(groupOf(topic))).toEqual([50]);
  });

  it('of a new group is the next result, and stays so when it ends before there is one', async () => {
    await topic.send(0, results(0, 3));
    const first = await subscribe({ fromBeginning: false });
    await until(
      async () => (await topic.committed(groupOf(topic)))[0] === 3,
      'the group has its position',
    );
    await first.stop();
    await topic.send(0, results(3, 5));
    await subscribe({ fromBeginning: false });
    await until(() => seen.at(-1) === 4, 'the next ones are handled');
    expect(seen).toEqual([3, 4]);
  });

  it('in a partition that came later is its first result', async () => {
    await topic.send(0, results(0, 1));
    const first = await subscribe({ fromBeginning: false });
    await topic.send(0, results(1, 2));
    await until(() => seen.length === 1, 'the group has begun');
    await first.stop();
    await topic.admin.createPartitions({
      topicPartitions: [{ topic: topic.name, count: 2 }],
    });
    await topic.admin.fetchTopicOffsets(topic.name);
    await topic.send(1, results(10, 12));
    await subscribe({ fromBeginning: false });
    await until(() => seen.at(-1) === 11, 'those of the new partition are handled');
    expect(seen).toEqual([1, 10, 11]);
  });
});
