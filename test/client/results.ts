import { RankChangeSubscriber } from '#client';
import { encodeRankChange } from '#contracts';
import { TestTopic } from '../kafka-batch/topic.js';

const SUFFIX = '.rank-changes';

/** A topic of rank changes, without the service that writes them. */
export const resultTopic = (partitions: number, settings: Readonly<Record<string, string>> = {}) =>
  TestTopic.create(partitions, settings, SUFFIX);

/** A rank change whose `source.offset` is a number of the test. */
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

type Options = Partial<ConstructorParameters<typeof RankChangeSubscriber>[0]>;

/** A member of the group `badges` of a topic; new groups begin at the first result. */
export function subscriberOf(topic: TestTopic, options: Options = {}): RankChangeSubscriber {
  const { kafka, prefix } = topic;
  const groupId = groupOf(topic);
  return new RankChangeSubscriber({
    kafka,
    groupId,
    topicPrefix: prefix,
    fromBeginning: true,
    ...options,
  });
}

export const groupOf = ({ prefix }: TestTopic) => `${prefix}-badges`;
