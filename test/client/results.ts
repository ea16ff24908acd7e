import { RankChangeSubscriber, type RankChange, type SubscriberOptions } from '#client';
import { encodeRankChange } from '#contracts';
import { TestTopic } from '../kafka-batch/topic.js';

const SUFFIX = '.rank-changes';

/** A topic of rank changes, which the test writes. */
export const resultTopic = (partitions: number, settings: Readonly<Record<string, string>> = {}) =>
  TestTopic.create(partitions, settings, SUFFIX);

/** A rank change with this `source.offset`. */
export function result(number: number): string {
  const source = { topic: 'scores', partition: 0, offset: number };
  return encodeRankChange({
    board: 'arena',
    generation: 'g1',
    playerId: 'ada',
    source,
    occurredAt: '2026-11-20T09:00:00.000Z',
    changes: [
      {
        view: 'all',
        version: number + 1,
        before: null,
        after: { rank: 1, competitionRank: 1, columns: { points: '1' } },
      },
    ],
  }).value;
}

export const results = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => result(from + index));

type Options = Partial<SubscriberOptions>;

export const groupOf = ({ prefix }: TestTopic) => `${prefix}-badges`;

/** Starts a member of the topic's group. A new group starts at the first result. It is stopped with the topic. */
export async function subscribe(
  topic: TestTopic,
  handle: (change: RankChange) => Promise<void> | void,
  options: Options = {},
): Promise<RankChangeSubscriber> {
  const { kafka, prefix } = topic;
  const group = { groupId: groupOf(topic), topicPrefix: prefix, fromBeginning: true };
  const subscriber = new RankChangeSubscriber({ kafka, ...group, ...options });
  topic.onRemove(() => subscriber.stop());
  await subscriber.start(handle);
  return subscriber;
}
