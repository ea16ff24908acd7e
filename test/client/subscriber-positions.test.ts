import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ResultGapError,
  ResultTopicReplacedError,
  type RankChange,
  type ResultGap,
  type SubscriberOptions,
} from '#client';
import type { TestTopic } from '../kafka-batch/topic.js';
import { until } from '../support/instance.js';
import { groupOf, results, resultTopic, subscribe } from './results.js';

describe('the offset of a subscriber', () => {
  let topic: TestTopic;
  let seen: number[];
  const record = ({ source }: RankChange) => void seen.push(source.offset);
  const start = (options: Partial<SubscriberOptions> = {}) => subscribe(topic, record, options);
  const committed = () => topic.committed(groupOf(topic));
  beforeEach(async () => {
    topic = await resultTopic(1);
    seen = [];
  });
  afterEach(() => topic.remove());

  /** The group has handled two of ten results; then the first six are deleted. */
  async function cutBehind(): Promise<void> {
    await topic.send(0, results(0, 2));
    const first = await start();
    await until(() => seen.length === 2, 'two results are handled');
    await first.stop();
    await topic.send(0, results(2, 10));
    await topic.cut(0, 6);
  }

  it('stays when the next results were deleted: the subscription ends with a ResultGapError', async () => {
    await cutBehind();
    const subscriber = await start();
    await expect(subscriber.failed).rejects.toMatchObject({
      constructor: ResultGapError,
      gap: { topic: topic.name, partition: 0, from: 2, to: 6 },
    });
    await subscriber.stop();
    expect(seen).toEqual([0, 1]);
    expect(await committed()).toEqual([2]);
  });

  it('moves behind deleted results after a call of onGap', async () => {
    await cutBehind();
    const gaps: ResultGap[] = [];
    const subscriber = await start({ onGap: (gap) => void gaps.push(gap) });
    await until(() => seen.at(-1) === 9, 'the rest is handled');
    await subscriber.stop();
    expect(gaps).toEqual([{ topic: topic.name, partition: 0, from: 2, to: 6 }]);
    expect(seen).toEqual([0, 1, 6, 7, 8, 9]);
    expect(await committed()).toEqual([10]);
  });

  it.each([true, false])(
    'handles results that are deleted while the subscriber runs (with onGap: %p)',
    async (hasOnGap) => {
      const gaps: ResultGap[] = [];
      const onGap = (gap: ResultGap) => void gaps.push(gap);
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      const many = 20_000; // more than the queue of a partition takes, so that some are fetched later
      for (let from = 0; from < many; from += 2_000)
        await topic.send(0, results(from, from + 2_000));
      let isEntered = false;
      const handle = async (change: RankChange) => {
        isEntered = true;
        await held;
        record(change);
      };
      const subscriber = await subscribe(topic, handle, hasOnGap ? { onGap } : {});
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
        expect(await committed()).toEqual([(seen.at(-1) ?? NaN) + 1]);
      }
    },
  );

  it('stays when the topic ends before it, as after a restore from a backup', async () => {
    await topic.send(0, results(0, 5));
    await topic.admin.setOffsets({
      groupId: groupOf(topic),
      topic: topic.name,
      partitions: [{ partition: 0, offset: '50' }],
    });
    const onGap = () => undefined;
    const subscriber = await start({ onGap });
    await expect(subscriber.failed).rejects.toMatchObject({
      constructor: ResultTopicReplacedError,
      at: { partition: 0, position: 50 },
      end: 5,
    });
    await subscriber.stop();
    expect(seen).toEqual([]);
    expect(await committed()).toEqual([50]);
  });

  it('of a new group is that of the next result, also if the group stops before there is one', async () => {
    await topic.send(0, results(0, 3));
    const first = await start({ fromBeginning: false });
    await until(async () => (await committed())[0] === 3, 'the group has its offset');
    await first.stop();
    await topic.send(0, results(3, 5));
    await start({ fromBeginning: false });
    await until(() => seen.at(-1) === 4, 'the next results are handled');
    expect(seen).toEqual([3, 4]);
  });

  it('of a partition that was added later is that of its first result', async () => {
    await topic.send(0, results(0, 1));
    const first = await start({ fromBeginning: false });
    await topic.send(0, results(1, 2));
    await until(() => seen.length === 1, 'the group has started');
    await first.stop();
    await topic.admin.createPartitions({
      topicPartitions: [{ topic: topic.name, count: 2 }],
    });
    await topic.admin.fetchTopicOffsets(topic.name);
    await topic.send(1, results(10, 12));
    await start({ fromBeginning: false });
    await until(() => seen.at(-1) === 11, 'the results of the new partition are handled');
    expect(seen).toEqual([1, 10, 11]);
  });
});
