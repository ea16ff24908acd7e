import type { Consumer, Kafka } from 'kafkajs';
import { decodeRankChange, topicNames, type RankChange } from '#contracts';

export interface RankChangeSubscriberOptions {
  readonly kafka: Kafka;
  /** Members of a group share the partitions; each group gets every rank change. */
  readonly groupId: string;
  readonly topicPrefix?: string;
  /** Where a new group starts: at the first rank change that Kafka still has, or at the next one. */
  readonly fromBeginning?: boolean;
}

/**
 * Hands over rank changes as they are committed: each exactly once, a player's in order. A handler that throws gets
 * the same rank change again; one that must not see it twice after a crash of its own compares `source`.
 */
export class RankChangeSubscriber {
  readonly #consumer: Consumer;
  readonly #options: RankChangeSubscriberOptions;

  constructor(options: RankChangeSubscriberOptions) {
    this.#options = options;
    this.#consumer = options.kafka.consumer({
      groupId: options.groupId,
      readUncommitted: false,
      maxWaitTimeInMs: 200,
      allowAutoTopicCreation: false,
    });
  }

  /** Joins the group and begins; resolves once it is a member. */
  async start(handle: (change: RankChange) => Promise<void> | void): Promise<void> {
    const { topicPrefix = 'ranklog', fromBeginning = false } = this.#options;
    await this.#consumer.connect();
    await this.#consumer.subscribe({
      topics: [topicNames(topicPrefix).rankChanges],
      fromBeginning,
    });
    const joined = new Promise<void>((resolve) => {
      this.#consumer.on(this.#consumer.events.GROUP_JOIN, () => {
        resolve();
      });
    });
    await this.#consumer.run({
      eachMessage: async ({ message }) => {
        const { key, value, headers = {} } = message;
        await handle(decodeRankChange({ key, value, headers }));
      },
    });
    await joined;
  }

  async stop(): Promise<void> {
    await this.#consumer.disconnect();
  }
}
