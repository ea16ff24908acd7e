import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import type { RawRecord } from '#contracts';

export interface SubscriberOptions {
  readonly kafka: Kafka;
  /** Members of a group share the partitions; each group gets every result. */
  readonly groupId: string;
  readonly topicPrefix?: string;
  /** Where a new group starts: at the first result that Kafka still has, or at the next one. */
  readonly fromBeginning?: boolean;
}

type Handle<T> = (result: T) => Promise<void> | void;

/**
 * Hands over the results of a topic as they are committed: each once, those of a partition in order. A handler that
 * throws ends the subscription; started again, with the same group, it gets that result again. So after a crash the
 * last one may come twice: its `source` tells.
 */
export abstract class ResultSubscriber<T> {
  readonly #consumer: Consumer;
  readonly #topic: string;
  readonly #decode: (record: RawRecord) => T;
  readonly #fromBeginning: boolean;
  #fail: (error: unknown) => void = () => undefined;

  /** Rejects when the subscription has ended by an error of the handler or of Kafka. Never resolves. */
  readonly failed = new Promise<never>((_, reject) => {
    this.#fail = reject;
  });

  protected constructor(
    { kafka, groupId, fromBeginning = false }: SubscriberOptions,
    topic: string,
    decode: (record: RawRecord) => T,
  ) {
    this.#topic = topic;
    this.#decode = decode;
    this.#fromBeginning = fromBeginning;
    this.failed.catch(() => undefined); // whoever does not look at it must not crash for it
    this.#consumer = kafka.consumer({
      groupId,
      readUncommitted: false,
      maxWaitTimeInMs: 200,
      allowAutoTopicCreation: false,
    });
  }

  /** Joins the group and begins; resolves once it is a member. */
  async start(handle: Handle<T>): Promise<void> {
    const { GROUP_JOIN, CRASH } = this.#consumer.events;
    await this.#consumer.connect();
    await this.#consumer.subscribe({ topics: [this.#topic], fromBeginning: this.#fromBeginning });
    const joined = new Promise<void>((resolve) => {
      this.#consumer.on(GROUP_JOIN, () => resolve());
    });
    this.#consumer.on(CRASH, ({ payload }) => {
      if (!payload.restart) this.#fail(payload.error);
    });
    await this.#consumer.run({
      eachBatchAutoResolve: false,
      eachBatch: (payload) => this.#handleBatch(payload, handle),
    });
    await Promise.race([joined, this.failed]);
  }

  async stop(): Promise<void> {
    await this.#consumer.disconnect();
  }

  /** An error that reached kafkajs could stop the consumer silently, or count against a limit that is never reset. */
  async #handleBatch(payload: EachBatchPayload, handle: Handle<T>): Promise<void> {
    for (const { key, value, headers = {}, offset } of payload.batch.messages) {
      if (!payload.isRunning() || payload.isStale()) return;
      try {
        await handle(this.#decode({ key, value, headers }));
      } catch (error) {
        this.#consumer.pause([{ topic: this.#topic }]);
        this.#fail(error);
        return;
      }
      payload.resolveOffset(offset);
      await payload.heartbeat();
    }
  }
}
