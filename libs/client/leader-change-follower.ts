import type { Kafka } from 'kafkajs';
import {
  decodeLeaderChange,
  MalformedRecordError,
  topicNames,
  type LeaderChange,
} from '#contracts';
import { toError } from '#errors';
import {
  isPermanent,
  KafkaUnreachableError,
  logRanges,
  TopicFollower,
  unlessAborted,
  type KafkaRecord,
} from '#kafka-batch';

export interface LeaderChangeFollowerOptions {
  readonly kafka: Kafka;
  readonly topicPrefix?: string | undefined;
}

/** How long `open` waits for Kafka. */
const OPEN_TIMEOUT_MS = 10_000;

/**
 * Delivers all leader changes that are committed after it opens. It has no consumer group: each
 * process gets all of them, and nothing remains in Kafka. It does not resume. Read the standings
 * after it opens: they contain all earlier changes.
 */
export class LeaderChangeFollower {
  /** Resolves when it has ended: with the error that no retry repairs, or after `close`. */
  readonly ended: Promise<Error>;
  readonly #run: Promise<never>;

  private constructor(
    private readonly options: LeaderChangeFollowerOptions,
    private readonly stop: AbortController,
    follower: TopicFollower,
    handle: (change: LeaderChange) => void,
  ) {
    this.#run = follower.run((record, partition) => {
      const change = this.#read(follower.topic, record, partition);
      if (change !== undefined) handle(change);
    });
    this.ended = Promise.race([this.#run, follower.watchPartitions()]).catch((error: unknown) => {
      stop.abort(error);
      return toError(error);
    });
  }

  /**
   * @throws KafkaUnreachableError after 10 s without Kafka, and errors of Kafka such as a missing
   * topic
   */
  static async open(
    options: LeaderChangeFollowerOptions,
    handle: (change: LeaderChange) => void,
  ): Promise<LeaderChangeFollower> {
    const { kafka, topicPrefix } = options;
    const topic = topicNames(topicPrefix).leaderChanges;
    const stop = new AbortController();
    const begin = performance.now();
    const unreachable = (cause: unknown) =>
      new KafkaUnreachableError(Math.round(performance.now() - begin), cause);
    const timer = setTimeout(() => {
      stop.abort(unreachable(new Error('no answer')));
    }, OPEN_TIMEOUT_MS);
    try {
      const { signal } = stop;
      const ranges = await unlessAborted(signal, logRanges(kafka, topic));
      const from = new Map([...ranges].map(([partition, { end }]) => [partition, end]));
      const follower = await TopicFollower.open({
        kafka,
        topic,
        from,
        signal,
        logger: kafka.logger(),
      });
      return new LeaderChangeFollower(options, stop, follower, handle);
    } catch (error) {
      throw isPermanent(error) ? error : unreachable(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves once nothing is connected any more. */
  async close(): Promise<void> {
    this.stop.abort(new Error('the follower was closed'));
    await this.#run.catch(() => undefined); // `ended` has the error
  }

  #read(topic: string, record: KafkaRecord, partition: number): LeaderChange | undefined {
    try {
      return decodeLeaderChange(record);
    } catch (error) {
      if (!(error instanceof MalformedRecordError)) throw error;
      const place = `${topic}/${partition} offset ${record.offset}`;
      this.options.kafka.logger().warn(`${place} is skipped: ${error.message}`);
      return undefined;
    }
  }
}
