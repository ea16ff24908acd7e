import { RankChangeSubscriber, type RankChange, type SubscriberOptions } from '#client';
import { encodeRankChange } from '#contracts';
import type { TestTopic } from '../kafka-batch/topic.js';

/** The value of a rank change with this `source.offset`. */
export function result(number: number): string {
  const source = { topic: 'scores', partition: 0, offset: number };
  const occurredAt = '2026-11-20T09:00:00.000Z';
  const after = { rank: 1, competitionRank: 1, columns: { points: '1' } };
  const changes = [{ view: 'all', version: number + 1, before: null, after }];
  return encodeRankChange(
    { board: 'arena', generation: 'g1', playerId: 'ada', source, occurredAt },
    JSON.stringify(changes),
  ).value;
}

export const results = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => result(from + index));

export const groupOf = ({ prefix }: TestTopic) => `${prefix}-badges`;

/**
 * Starts a member of the topic's group. A new group starts at the first result. The member stops
 * when the topic is removed.
 */
export async function subscribe(
  topic: TestTopic,
  handle: (change: RankChange) => Promise<void> | void,
  options: Partial<SubscriberOptions> = {},
): Promise<RankChangeSubscriber> {
  const { kafka, prefix } = topic;
  const group = { groupId: groupOf(topic), topicPrefix: prefix, fromBeginning: true };
  const subscriber = new RankChangeSubscriber({ kafka, ...group, ...options });
  topic.onRemove(() => subscriber.stop());
  await subscriber.start(handle);
  return subscriber;
}

/** A promise, and the function that resolves it. */
export function hold() {
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  return { held, release };
}
